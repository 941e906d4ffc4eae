import { saveKey } from "../setup/key-files.ts";
import { providersForSetup, tryKey, type KeyedProvider, type KeyTrial } from "../setup/keys.ts";
import type { Env } from "../models/providers.ts";
import { line, type Line } from "../terminal/line.ts";
import { pickerPanel, pickerState } from "../views/picker.ts";
import { textFieldPanel, textFieldState } from "../views/text-field.ts";
import { choicePanel } from "./choice-panel.ts";
import { showPanel, type BareTerminal } from "./show-panel.ts";

/** Takes the key of a provider: typed hidden, tried once, and saved for this user. Returns whether there is a new key. */
export async function addKey(bare: BareTerminal, env: Env): Promise<boolean> {
  const items = providersForSetup(env).map((value) => ({
    value,
    label: value.name,
    details: [value.hasKey ? "has a key" : value.variable],
  }));
  const picked = await showPanel(bare, pickerPanel<KeyedProvider>(), pickerState({ title: "Whose key?", items }));
  return picked?.value ? takeKey(bare, picked.value, env) : false;
}

async function takeKey(bare: BareTerminal, provider: KeyedProvider, env: Env): Promise<boolean> {
  const title = `The key of ${provider.name}. It is tried once, and saved where only you can read it`;
  const typed = await showPanel(bare, textFieldPanel, textFieldState({ title, hidden: true }));
  const key = typed?.text?.trim() ?? "";
  if (key === "") return false;
  bare.terminal.output.writeNow(`Trying it with ${provider.defaultModel} …\r\n`);
  const trial = await tryKey(provider.name, key, { env });
  if (trial.kind === "works" || (await decide(bare, trial)) === "keep") {
    saveKey(provider.variable, key, env);
    return true;
  }
  return takeKey(bare, provider, env);
}

/** A key that the provider refuses is not saved. */
async function decide(bare: BareTerminal, trial: Exclude<KeyTrial, { kind: "works" }>): Promise<"keep" | "again"> {
  const title: Line[] = [line(trial.message, { color: "yellow" })];
  const keep = { id: "keep", key: "s", label: "save it all the same" } as const;
  const answer = await showPanel(bare, choicePanel<"keep" | "again">(), {
    title,
    choices: [{ id: "again", key: "a", label: "type it again" }, ...(trial.kind === "unsure" ? [keep] : [])],
    escape: "again",
    marked: 0,
  });
  return answer ?? "again";
}
