import type { CommandContext } from "../app/commands/command.ts";
import { messageOf } from "../error-message.ts";
import { envValue, type Env } from "../models/providers.ts";
import { saveKey } from "./key-files.ts";
import { providersForSetup, tryKey, type KeyedProvider } from "./keys.ts";

/** What a terminal and lines of text can both do. */
export type KeyDialog = Pick<CommandContext, "pick" | "ask" | "say">;

/** Asks for a provider and its key, tries the key and saves it. Returns the model that can be used now. `undefined`: the user left. */
export async function addKey(dialog: KeyDialog, env: Env): Promise<{ modelId: string } | undefined> {
  const provider = await dialog.pick({
    title: "Whose key?",
    items: providersForSetup(env).map((one) => ({ value: one, label: one.name, details: [detailOf(one, env)] })),
  });
  if (!provider) return undefined;
  const { name, variable, defaultModel } = provider;
  if (envValue(env, variable) !== undefined) {
    dialog.say(`${variable} is set in the environment, which counts more than a saved key. Change it there.`);
    return undefined;
  }
  for (;;) {
    const key = (await dialog.ask({ title: `The key of ${name}`, hidden: true }))?.trim();
    if (!key) return undefined;
    dialog.say(`Trying the key with ${name} …`);
    const trial = await tryKey(name, key, { env });
    if (trial.kind !== "works") dialog.say(trial.message);
    if (trial.kind === "refused" || (trial.kind === "unsure" && !(await isKept(dialog)))) continue;
    try {
      dialog.say(`The key is saved in ${saveKey(variable, key, env)}, which only you can read.`);
      return { modelId: `${name}/${defaultModel}` };
    } catch (error) {
      dialog.say(`The key is not saved: ${messageOf(error)}. Or set ${variable}.`);
      return undefined;
    }
  }
}

function detailOf({ hasKey, variable }: KeyedProvider, env: Env): string {
  if (!hasKey) return variable;
  return `${variable}, ${envValue(env, variable) === undefined ? "saved" : "set in the environment"}`;
}

async function isKept(dialog: KeyDialog): Promise<boolean> {
  const kept = await dialog.pick({
    title: "It is not known whether the key works.",
    items: [
      { value: false, label: "Type it again" },
      { value: true, label: "Save it anyway" },
    ],
  });
  return kept ?? false;
}
