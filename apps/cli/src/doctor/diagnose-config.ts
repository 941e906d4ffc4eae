import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../error-message.ts";
import type { Env } from "../models/providers.ts";
import { loadConfig } from "../setup/load-config.ts";
import { modelOf } from "../setup/project-model.ts";
import { folderWarning, isTrustedFolder, whatNeedsTrust } from "../setup/trust.ts";
import { userFolders } from "../setup/user-folders.ts";
import type { Diagnosis } from "./diagnosis.ts";

interface ConfigPlace {
  folder: string;
  env: Env;
}

/** The files of the configuration, and the model that they lead to. */
export async function diagnoseConfig({ folder, env }: ConfigPlace): Promise<Diagnosis[]> {
  const area = "config";
  const trusted = isTrustedFolder({ folder, env });
  try {
    const { models, notes } = await loadConfig({ folder, env, flags: {}, trusted });
    const { model, notes: ofModel } = modelOf({ flag: undefined, env, ...models });
    const file = join(userFolders(env).config, "config.json");
    const message = `model ${model.id}; ${existsSync(file) ? file : `${file} is not there, so defaults apply`}`;
    const warnings = [...notes, ...ofModel].map((note): Diagnosis => ({ area, status: "warn", message: note }));
    return [{ area, status: "ok", message }, ...warnings];
  } catch (error) {
    return [{ area, status: "fail", message: messageOf(error), next: "correct it: cinch does not start with it" }];
  }
}

/** Whether what this folder says is obeyed. */
export function diagnoseTrust({ folder, env }: ConfigPlace): Diagnosis[] {
  const area = "trust";
  const warning = folderWarning({ folder, env });
  const found: Diagnosis[] = warning === null ? [] : [{ area, status: "warn", message: warning }];
  const files = whatNeedsTrust({ folder, env });
  if (isTrustedFolder({ folder, env })) return [{ area, status: "ok", message: "this folder is trusted" }, ...found];
  if (files.length === 0) return [{ area, status: "ok", message: "nothing in this folder needs trust" }, ...found];
  const message = `this folder is not trusted, so these are not read: ${files.join(", ")}`;
  return [{ area, status: "warn", message, next: "to trust it, start cinch here once" }, ...found];
}
