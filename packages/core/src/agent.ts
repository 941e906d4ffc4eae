import * as z from "zod";
import { CinchError } from "./errors.ts";
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

const Config = z.strictObject({
  name: z.string().min(1),
  description: z.string().optional(),
  instructions: z.union([z.string(), z.custom<Instructions>((value) => typeof value === "function")]).optional(),
  model: z
    .union([
      z.string().min(1),
      z.custom<LanguageModel>(isLanguageModel, "must be a language model of the AI SDK, or a string"),
    ])
    .optional(),
  tools: z
    .record(
      z.string(),
      z.custom<ToolSet[string]>((value) => typeof value === "object" && value !== null),
    )
    .optional(),
  maxSteps: z.int().min(1).optional(),
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
    const valid = checked(Config, config, `Agent ${JSON.stringify(config?.name ?? "?")}`);
    this.name = valid.name;
    this.description = valid.description ?? "";
    this.instructions = valid.instructions ?? "";
    this.model = valid.model;
    this.tools = valid.tools ?? {};
    this.maxSteps = valid.maxSteps ?? DEFAULT_MAX_STEPS;
  }
}

/** The configuration, or an `INVALID_CONFIG` that says which key is wrong and how. */
export function checked<S extends z.ZodType>(schema: S, config: unknown, what: string): z.infer<S> {
  const result = schema.safeParse(config);
  if (result.success) return result.data;
  throw new CinchError("INVALID_CONFIG", `${what}: ${z.prettifyError(result.error)}`);
}
