import * as z from "zod/mini";
import { Budget } from "./budget.ts";
import { checkedConfig } from "./check.ts";
import { isLanguageModel, type LanguageModel } from "../model/compat.ts";
import { namedTool } from "../tools/named-tool.ts";
import { Rule } from "../permissions/rule.ts";
import { Settings } from "./settings.ts";
import type { ToolSet } from "../tools/tool.ts";

export type Model = LanguageModel | string;
/** A function is called when the head of a prompt is made, not for every request. */
export type Instructions = string | (() => string | Promise<string>);

export interface AgentConfig {
  name: string;
  description?: string;
  instructions?: Instructions;
  model?: Model;
  tools?: ToolSet;
  /** The tools that may run, of all that are listed; default: all. */
  availableTools?: readonly string[];
  permissions?: readonly Rule[];
  maxSteps?: number;
  budget?: Budget;
  /** What the model is called with, besides the prompt. */
  settings?: Settings;
}

export const DEFAULT_MAX_STEPS = 200;

const text = z.string().check(z.minLength(1));
export const ModelValue = z.custom<Model>(
  (value) => isLanguageModel(value) || (typeof value === "string" && value !== ""),
  'must be a language model of the AI SDK, such as anthropic("claude-sonnet-5"), or a string for resolveModel',
);
const ToolValue = z.custom<ToolSet[string]>((value) => typeof value === "object" && value !== null, "must be a tool");
export const ToolValues = z.record(z.string(), ToolValue);

const Config = z.strictObject({
  name: text,
  description: z.optional(z.string()),
  instructions: z.optional(
    z.custom<Instructions>(
      (value) => typeof value === "string" || typeof value === "function",
      "must be a string, or a function that returns one",
    ),
  ),
  model: z.optional(ModelValue),
  tools: z.optional(ToolValues),
  availableTools: z.optional(z.array(z.string())),
  permissions: z.optional(z.array(Rule)),
  maxSteps: z.optional(z.int().check(z.gte(1))),
  budget: z.optional(Budget),
  settings: z.optional(Settings),
});

/** Instructions, a model and tools, under a name: a value, no state. */
export class Agent {
  readonly name: string;
  readonly description: string;
  readonly instructions: Instructions;
  readonly model: Model | undefined;
  readonly tools: ToolSet;
  readonly availableTools: readonly string[] | null;
  readonly permissions: readonly Rule[];
  readonly maxSteps: number;
  readonly budget: Budget | undefined;
  readonly settings: Settings;

  constructor(config: AgentConfig) {
    const valid = checkedConfig(Config, config, `Agent ${JSON.stringify(config?.name ?? "?")}`);
    this.name = valid.name;
    this.description = valid.description ?? "";
    this.instructions = valid.instructions ?? "";
    this.model = valid.model;
    this.tools = valid.tools ?? {};
    for (const [name, tool] of Object.entries(this.tools)) namedTool(name, tool);
    this.availableTools = valid.availableTools ? Object.freeze([...valid.availableTools]) : null;
    this.permissions = Object.freeze([...(valid.permissions ?? [])]);
    this.budget = valid.budget;
    this.settings = Object.freeze(valid.settings ?? {});
    this.maxSteps = valid.maxSteps ?? DEFAULT_MAX_STEPS;
  }
}
