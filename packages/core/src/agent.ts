import * as z from "zod/mini";
import { checkedConfig } from "./check.ts";
import { isLanguageModel, type LanguageModel } from "./model/compat.ts";
import type { ToolSet } from "./tool.ts";

export type Model = LanguageModel | string;
/** A function is called when the head of a prompt is made, not for every request: the head stays as it is. */
export type Instructions = string | (() => string | Promise<string>);

export interface AgentConfig {
  name: string;
  description?: string;
  instructions?: Instructions;
  model?: Model;
  tools?: ToolSet;
  maxSteps?: number;
}

export const DEFAULT_MAX_STEPS = 200;

const text = z.string().check(z.minLength(1));
const ModelValue = z.custom<LanguageModel>(isLanguageModel, "must be a language model of the AI SDK, or a string");
const ToolValue = z.custom<ToolSet[string]>((value) => typeof value === "object" && value !== null, "must be a tool");

const Config = z.strictObject({
  name: text,
  description: z.optional(z.string()),
  instructions: z.optional(z.union([z.string(), z.custom<Instructions>((value) => typeof value === "function")])),
  model: z.optional(z.union([text, ModelValue])),
  tools: z.optional(z.record(z.string(), ToolValue)),
  maxSteps: z.optional(z.int().check(z.gte(1))),
});

/** Instructions, a model and tools, under a name: a value, no state. */
export class Agent {
  readonly name: string;
  readonly description: string;
  readonly instructions: Instructions;
  readonly model: Model | undefined;
  readonly tools: ToolSet;
  readonly maxSteps: number;

  constructor(config: AgentConfig) {
    const valid = checkedConfig(Config, config, `Agent ${JSON.stringify(config?.name ?? "?")}`);
    this.name = valid.name;
    this.description = valid.description ?? "";
    this.instructions = valid.instructions ?? "";
    this.model = valid.model;
    this.tools = valid.tools ?? {};
    this.maxSteps = valid.maxSteps ?? DEFAULT_MAX_STEPS;
  }
}
