import type { Env } from "../models/providers.ts";
import { addKey, type KeyDialog } from "../setup/add-key.ts";
import { line, type Line } from "../terminal/line.ts";
import { choicePanel } from "./choice-panel.ts";
import type { AskPanel } from "./show-panel.ts";

/** `key`: the user has added a key, so the project has to be opened again. `undefined`: the user left. */
export type Welcome = "tour" | "key" | "start" | undefined;

interface WelcomeOptions {
  greeting: Line;
  ask: AskPanel;
  dialog: KeyDialog;
  env: Env;
}

/** The first screen of a user without a key. */
export async function welcome(options: WelcomeOptions): Promise<Welcome> {
  const { greeting, ask, dialog, env } = options;
  const answer = await ask(choicePanel<"tour" | "key" | "start">(), {
    title: [greeting, line("")],
    choices: [
      { id: "tour", key: "t", label: "Take the two-minute tour" },
      { id: "key", key: "k", label: "Add a key" },
      { id: "start", key: "s", label: "Start" },
    ],
    escape: "start",
    marked: 0,
  });
  if (answer !== "key") return answer;
  return (await addKey(dialog, env)) ? "key" : welcome(options);
}
