import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import { messageOf } from "../error-message.ts";
import { envValue, providers, type Env, type Provider } from "../models/providers.ts";
import { withSavedKeys } from "./key-files.ts";

/** A provider that needs a key, as a list shows it. */
export interface KeyedProvider {
  name: string;
  /** The environment variable of the key, under which it is also saved. */
  variable: string;
  /** The model that the key is tried with. */
  defaultModel: string;
  /** In the environment, or saved. */
  hasKey: boolean;
}

export type KeyTrial =
  | { kind: "works" }
  /** The provider says that the key is wrong. */
  | { kind: "refused"; message: string }
  /** There was no answer that says whether the key is right. The user decides whether to keep it. */
  | { kind: "unsure"; message: string };

const TRIAL_MS = 20_000;
/** Some models accept no lower limit. */
const TRIAL_TOKENS = 16;

export function providersForSetup(env: Env): KeyedProvider[] {
  const keyed = withSavedKeys(env);
  return providers.flatMap(({ name, key: variable, defaultModel }) =>
    variable === undefined || defaultModel === undefined
      ? []
      : [{ name, variable, defaultModel, hasKey: envValue(keyed, variable) !== undefined }],
  );
}

/** Sends one small request with the key. No message has the key in it. */
export async function tryKey(
  name: string,
  key: string,
  { env, timeoutMs = TRIAL_MS }: { env: Env; timeoutMs?: number },
): Promise<KeyTrial> {
  const provider = providers.find((known) => known.name === name)!;
  if (!/^[\x21-\x7e]+$/.test(key))
    return { kind: "refused", message: "This is not a key: a key is one word without spaces. Copy it again." };
  try {
    const model = (await provider.load(provider.defaultModel!, { ...env, [provider.key!]: key })) as LanguageModelV4;
    await model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "Answer with OK." }] }],
      maxOutputTokens: TRIAL_TOKENS,
      abortSignal: AbortSignal.timeout(timeoutMs),
    });
    return { kind: "works" };
  } catch (error) {
    return failedTrial(error, { provider, key, timeoutMs });
  }
}

function failedTrial(
  error: unknown,
  { provider, key, timeoutMs }: { provider: Provider; key: string; timeoutMs: number },
): KeyTrial {
  const { name } = provider;
  if (error instanceof DOMException && error.name === "TimeoutError")
    return { kind: "unsure", message: `${name} did not answer within ${timeoutMs / 1_000} s.` };
  const reason = messageOf(error).replaceAll(key, "…");
  if (!APICallError.isInstance(error))
    return { kind: "unsure", message: `${name} did not accept the request: ${reason}` };
  const { statusCode: status } = error;
  if (isRefusal(error))
    return { kind: "refused", message: `${name} refuses this key (${status}). Check that it was copied whole.` };
  // Without a status there was no answer.
  const problem = status === undefined ? "could not be reached" : `did not accept the request (${status})`;
  return { kind: "unsure", message: `${name} ${problem}: ${reason}` };
}

/** Google answers a wrong key with 400. */
const isRefusal = ({ statusCode, responseBody = "" }: APICallError): boolean =>
  statusCode === 401 ||
  statusCode === 403 ||
  (statusCode === 400 && /API_KEY_INVALID|API key not valid/.test(responseBody));
