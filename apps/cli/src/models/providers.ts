import type { LanguageModel } from "@cinch/core";
import { UsageError } from "../exit.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface Provider {
  name: string;
  about: string;
  /** The environment variable of the key, if one is needed. */
  key?: string;
  /** The model if only a key was given. */
  defaultModel?: string;
  /** Matches names of its models, to suggest the provider when it is missing. */
  family?: RegExp;
  /** Imports the provider's package, so that a start loads no other provider. */
  load(id: string, env: Env): Promise<LanguageModel>;
}

const OLLAMA_PORT = 11434;

export const providers: readonly Provider[] = [
  {
    name: "anthropic",
    about: "key in ANTHROPIC_API_KEY",
    key: "ANTHROPIC_API_KEY",
    defaultModel: "claude-sonnet-5",
    family: /^claude/i,
    async load(id, env) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ ...keyOf(env, "ANTHROPIC_API_KEY"), ...serverOf(env, "ANTHROPIC_BASE_URL") })(id);
    },
  },
  {
    name: "openai",
    about: "key in OPENAI_API_KEY",
    key: "OPENAI_API_KEY",
    defaultModel: "gpt-5.6",
    family: /^(gpt|chatgpt|o\d)/i,
    async load(id, env) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ ...keyOf(env, "OPENAI_API_KEY"), ...serverOf(env, "OPENAI_BASE_URL") })(id);
    },
  },
  {
    name: "google",
    about: "key in GOOGLE_GENERATIVE_AI_API_KEY",
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    defaultModel: "gemini-flash-latest",
    family: /^gemini/i,
    async load(id, env) {
      const { createGoogle } = await import("@ai-sdk/google");
      const baseURL = envValue(env, "GOOGLE_GEMINI_BASE_URL");
      return createGoogle({ ...keyOf(env, "GOOGLE_GENERATIVE_AI_API_KEY"), ...(baseURL && { baseURL }) })(id);
    },
  },
  {
    name: "openai-compatible",
    about: "any server that speaks OpenAI's chat API, at CINCH_BASE_URL",
    load: (id, env) => compatible("openai-compatible", id, { env, baseURL: envValue(env, "CINCH_BASE_URL") }),
  },
  {
    name: "ollama",
    about: "Ollama, at OLLAMA_HOST or localhost:11434",
    family: /^(llama|qwen|mistral|gemma|phi|deepseek)/i,
    load: (id, env) => compatible("ollama", id, { env, baseURL: ollamaUrl(envValue(env, "OLLAMA_HOST")) }),
  },
  {
    name: "vllm",
    about: "vLLM, at CINCH_BASE_URL or localhost:8000",
    load: (id, env) =>
      compatible("vllm", id, { env, baseURL: envValue(env, "CINCH_BASE_URL") ?? "http://localhost:8000/v1" }),
  },
  {
    name: "llamacpp",
    about: "llama.cpp's server, at CINCH_BASE_URL or localhost:8080",
    load: (id, env) =>
      compatible("llamacpp", id, { env, baseURL: envValue(env, "CINCH_BASE_URL") ?? "http://localhost:8080/v1" }),
  },
];

async function compatible(
  name: string,
  id: string,
  { env, baseURL }: { env: Env; baseURL: string | undefined },
): Promise<LanguageModel> {
  if (baseURL === undefined) throw new UsageError(missingUrl);
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const apiKey = envValue(env, "CINCH_API_KEY");
  return createOpenAICompatible({
    name,
    baseURL: withVersionPath(baseURL)!,
    includeUsage: true,
    ...(apiKey ? { apiKey } : {}),
  })(id);
}

export const missingUrl =
  "openai-compatible/… needs the address of a server: set CINCH_BASE_URL, for example to http://localhost:8000/v1";

/** The SDKs would look in the environment of the process alone, where a saved key is not. */
function keyOf(env: Env, variable: string): { apiKey?: string } {
  const apiKey = envValue(env, variable);
  return apiKey === undefined ? {} : { apiKey };
}

function serverOf(env: Env, variable: string): { baseURL?: string } {
  const baseURL = withVersionPath(envValue(env, variable));
  return baseURL === undefined ? {} : { baseURL };
}

/** An empty variable counts as not set. */
export const envValue = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

/** Adds `/v1`, which is often missing in base URLs. */
function withVersionPath(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const { pathname } = parseUrl(url);
  return pathname === "/" ? new URL("/v1", url).href : url;
}

/** `OLLAMA_HOST` is the address on which the server listens: a host, a port or both, possibly a wildcard. */
export function ollamaUrl(host: string | undefined): string {
  if (host === undefined) return `http://localhost:${OLLAMA_PORT}/v1`;
  const bare = host.startsWith(":") ? `localhost${host}` : host;
  const url = parseUrl(/^https?:\/\//.test(bare) ? bare : `http://${bare}`);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost";
  if (url.port === "" && !host.startsWith("http")) url.port = String(OLLAMA_PORT);
  return new URL("/v1", url).href;
}

function parseUrl(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") return parsed;
  throw new UsageError(`"${url}" is not the address of a server. Write one like http://localhost:8000/v1`);
}
