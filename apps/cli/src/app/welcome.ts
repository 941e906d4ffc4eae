import { line, type Line } from "../terminal/line.ts";
import type { KeyChoice } from "../views/choices.ts";
import { choicePanel } from "./choice-panel.ts";
import type { AskPanel } from "./show-panel.ts";

/** `key`: the user has added a key, so the project has to be opened again. `undefined`: the user left. */
export type Welcome = "tour" | "key" | "start" | undefined;

interface WelcomeOptions {
  greeting: Line;
  /** Returns whether there is a new key. */
  addKey: () => Promise<boolean>;
  hasTour: boolean;
}

/** The first screen of a user without a key. */
export async function welcome(ask: AskPanel, { greeting, addKey, hasTour }: WelcomeOptions): Promise<Welcome> {
  const tour: KeyChoice<"tour"> = { id: "tour", key: "t", label: "Take the two-minute tour" };
  const answer = await ask(choicePanel<"tour" | "key" | "start">(), {
    title: [greeting, line("")],
    choices: [
      ...(hasTour ? [tour] : []),
      { id: "key", key: "k", label: "Add a key" },
      { id: "start", key: "s", label: "Start" },
    ],
    escape: "start",
    marked: 0,
  });
  if (answer !== "key") return answer;
  return (await addKey()) ? "key" : welcome(ask, { greeting, addKey, hasTour });
}
