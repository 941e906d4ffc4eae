import { envValue, type Env } from "../models/providers.ts";
import { exposedKeys } from "../setup/key-files.ts";
import { providersForSetup } from "../setup/keys.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Which keys are set, and where. Never a key itself. */
export function diagnoseKeys(env: Env): Diagnosis[] {
  const area = "keys";
  const set = providersForSetup(env)
    .filter(({ hasKey }) => hasKey)
    .map(({ name, variable }) => `${name} (${envValue(env, variable) === undefined ? "saved" : variable})`);
  const exposed = exposedKeys(env).map((message): Diagnosis => ({ area, status: "warn", message }));
  if (set.length > 0) return [{ area, status: "ok", message: set.join(", ") }, ...exposed];
  const next = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another one, or start cinch, which can save a key";
  const message = "no provider has a key: only the offline model answers, or a server that needs none";
  return [{ area, status: "warn", message, next }, ...exposed];
}
