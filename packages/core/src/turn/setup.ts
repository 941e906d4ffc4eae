import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { Agent, Model } from "../agent.ts";
import { CinchError } from "../errors.ts";
import { asV4, type LanguageModel, type StreamModel } from "../model/compat.ts";
import type { Head } from "../model/prompt.ts";
import { hashOf } from "../ports.ts";
import { namedTool, type NamedTool, type ToolSet } from "../tool.ts";

/** A mode: an agent under a name. */
export interface HarnessMode {
  id: string;
  name: string;
  agent: Agent;
  metadata: Record<string, unknown>;
}

/** Everything a step needs to know of who acts in it. Made once for a mode, and used by every thread. */
export interface Setup {
  mode: HarnessMode;
  modelId: string;
  tools: ReadonlyMap<string, NamedTool>;
  listed: LanguageModelV4FunctionTool[];
  /** Stays the same as long as nobody changes the head on purpose: agent, model, instructions, tool set. */
  headKey: string;
  model(): Promise<StreamModel>;
  makeHead(): Promise<Head>;
}

export type ResolveModel = (id: string) => LanguageModel | Promise<LanguageModel>;

export async function makeSetup(
  mode: HarnessMode,
  shared: ToolSet,
  resolveModel: ResolveModel | undefined,
): Promise<Setup> {
  const { agent } = mode;
  const tools = toolsOf(agent, shared);
  const listed = [...tools.values()].map(({ name, description, schema }) => {
    return { type: "function" as const, name, description, inputSchema: schema.json };
  });
  const { model } = agent;
  const modelId = idOf(model);
  const text = typeof agent.instructions === "string" ? agent.instructions : null;
  const headKey = await hashOf(new TextEncoder().encode(JSON.stringify([agent.name, modelId, text, listed])));
  return {
    mode,
    modelId,
    tools,
    listed,
    headKey,
    model: async () => asV4(await resolved(agent.name, model, resolveModel)),
    makeHead: async () => ({
      system: typeof agent.instructions === "function" ? await agent.instructions() : agent.instructions,
      tools: listed,
    }),
  };
}

/** The harness's tools and the agent's own. A name in both is a mistake, not an override. */
export function toolsOf(agent: Agent, shared: ToolSet): Map<string, NamedTool> {
  const tools = new Map<string, NamedTool>();
  for (const [name, tool] of [...Object.entries(shared), ...Object.entries(agent.tools)]) {
    if (tools.has(name))
      throw new CinchError("INVALID_CONFIG", `Agent "${agent.name}" has two tools named "${name}". Rename one.`);
    tools.set(name, namedTool(name, tool));
  }
  return tools;
}

function idOf(model: Model | undefined): string {
  if (model === undefined) return "none";
  return typeof model === "string" ? model : `${model.provider}/${model.modelId}`;
}

async function resolved(
  agent: string,
  model: Model | undefined,
  resolveModel: ResolveModel | undefined,
): Promise<LanguageModel> {
  if (model === undefined) throw new CinchError("INVALID_CONFIG", `Agent "${agent}" has no model. Give it one.`);
  if (typeof model !== "string") return model;
  if (resolveModel) return resolveModel(model);
  throw new CinchError(
    "INVALID_CONFIG",
    `Model "${model}" is a string: give the harness a resolveModel, or a model object.`,
  );
}
