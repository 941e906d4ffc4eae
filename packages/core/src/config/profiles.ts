import * as z from "zod/mini";
import { CinchError } from "../errors.ts";
import type { StreamModel } from "../model/compat.ts";
import { namedTool } from "../tools/named-tool.ts";
import type { ToolSet } from "../tools/tool.ts";
import { ToolValues } from "./agent.ts";
import { checkedConfig } from "./check.ts";

/** Adapts prompts and tools to a model, or to all models of a provider. */
export interface Profile {
  /** Stands before the agent's instructions. */
  baseSystemPrompt?: string;
  /** Stands after the agent's instructions. */
  systemPromptSuffix?: string;
  /** By tool, the description that the model gets. */
  toolDescriptionOverrides?: Readonly<Record<string, string>>;
  /** Tools that the model does not see and can't call. */
  excludedTools?: readonly string[];
  extraTools?: ToolSet;
  /** `false`: the built-in subagent `general-purpose` is off. */
  generalPurposeSubagent?: boolean;
}

const filled = z.string().check(z.minLength(1));
const Profile = z.lazy(() =>
  z.strictObject({
    baseSystemPrompt: z.optional(z.string()),
    systemPromptSuffix: z.optional(z.string()),
    toolDescriptionOverrides: z.optional(z.record(z.string(), filled)),
    excludedTools: z.optional(z.array(filled)),
    extraTools: z.optional(ToolValues),
    generalPurposeSubagent: z.optional(z.boolean()),
  }),
);

/** The name of a model, as its provider's SDK gives it. */
export type ModelName = Pick<StreamModel, "provider" | "modelId">;

interface Layer {
  provider: string;
  /** `null`: all models of the provider. */
  modelId: string | null;
  profile: Profile;
}

/** In the order of registration. The profiles of a process: every harness in it uses them. */
const layers: Layer[] = [];
let version = 0;

/**
 * Registers a profile for a provider ("anthropic") or for one model ("openai:gpt-5.4"). The provider is what stands before the first dot of
 * a model's `provider`. A model has all profiles that are registered for it, later ones over earlier ones, those of the model over those of
 * the provider. Returns a function that unregisters this one. Throws `INVALID_CONFIG`.
 */
export function registerProfile(key: string, profile: Profile): () => void {
  const layer = { ...parsedKey(key), profile: checkedProfile(key, profile) };
  layers.push(layer);
  version++;
  return () => {
    const at = layers.indexOf(layer);
    if (at < 0) return;
    layers.splice(at, 1);
    version++;
  };
}

function parsedKey(key: unknown): { provider: string; modelId: string | null } {
  const [, provider, modelId = null] = (typeof key === "string" && /^([^\s:.]+)(?::(\S+))?$/.exec(key)) || [];
  if (provider !== undefined) return { provider, modelId };
  throw new CinchError(
    "INVALID_CONFIG",
    `registerProfile: ${JSON.stringify(key)} is not a key. Give a provider, such as "anthropic", or a provider and a model, such as "openai:gpt-5.4". The provider is what stands before the first dot of the model's provider.`,
  );
}

function checkedProfile(key: string, profile: unknown): Profile {
  const valid = checkedConfig(Profile, profile, `Profile "${key}"`);
  for (const [name, tool] of Object.entries(valid.extraTools ?? {})) namedTool(name, tool);
  return copyOf(valid as Profile);
}

/** The caller may change its object later. */
const copyOf = ({ extraTools, ...rest }: Profile): Profile => ({
  ...structuredClone(rest),
  ...(extraTools ? { extraTools: { ...extraTools } } : {}),
});

/** Changes whenever a profile is registered or unregistered. */
export const profilesVersion = (): number => version;

export const hasProfiles = (): boolean => layers.length > 0;

/** All profiles of a model, merged. */
export interface MergedProfile extends Required<Omit<Profile, "excludedTools">> {
  excludedTools: ReadonlySet<string>;
}

export const noProfile: MergedProfile = {
  baseSystemPrompt: "",
  systemPromptSuffix: "",
  toolDescriptionOverrides: {},
  excludedTools: new Set(),
  extraTools: {},
  generalPurposeSubagent: true,
};

/**
 * The profile of a model. `null`: the model can't be resolved, so that it may be any model: every tool that some profile excludes is
 * excluded.
 */
export function profileOf(model: ModelName | null): MergedProfile {
  if (!model)
    return { ...noProfile, excludedTools: new Set(layers.flatMap(({ profile }) => profile.excludedTools ?? [])) };
  const [provider] = model.provider.split(".");
  const ofProvider = layers.filter((layer) => layer.provider === provider);
  const ofAll = ofProvider.filter(({ modelId }) => modelId === null);
  const ofModel = ofProvider.filter(({ modelId }) => modelId === model.modelId);
  return [...ofAll, ...ofModel].reduce((merged, { profile }) => merge(merged, profile), noProfile);
}

/** Scalars override, maps are merged key by key, sets are united. */
function merge(before: MergedProfile, profile: Profile): MergedProfile {
  return {
    baseSystemPrompt: profile.baseSystemPrompt ?? before.baseSystemPrompt,
    systemPromptSuffix: profile.systemPromptSuffix ?? before.systemPromptSuffix,
    toolDescriptionOverrides: { ...before.toolDescriptionOverrides, ...profile.toolDescriptionOverrides },
    excludedTools: new Set([...before.excludedTools, ...(profile.excludedTools ?? [])]),
    extraTools: { ...before.extraTools, ...profile.extraTools },
    generalPurposeSubagent: profile.generalPurposeSubagent ?? before.generalPurposeSubagent,
  };
}

/** The names of the tools that profiles add, for any model. */
export const extraToolNames = (): readonly string[] =>
  layers.flatMap(({ profile }) => Object.keys(profile.extraTools ?? {}));
