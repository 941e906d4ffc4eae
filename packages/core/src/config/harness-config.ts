import * as z from "zod/mini";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { SubagentsValue, ToolValues, type Agent, type Subagents } from "./agent.ts";
import { Budget } from "./budget.ts";
import { HeartbeatList, type Heartbeat } from "./heartbeats.ts";
import { AgentValue, ModeConfig } from "./modes.ts";
import type { ResolveModel } from "./models.ts";
import {
  ClockValue,
  ContextSources,
  LiveValue,
  MemoryValue,
  PlacementValue,
  StoreValue,
  WorkspaceValue,
} from "./port-values.ts";
import { Prices, type PriceTable } from "./prices.ts";
import type { StateUpdates, StateValues } from "./state-shape.ts";
import { ContextWindow } from "./windows.ts";
import { CinchError } from "../errors.ts";
import { InterruptOn } from "../permissions/gate.ts";
import { Rule, ToolCategory } from "../permissions/rule.ts";
import type { Clock } from "../ports/clock.ts";
import type { ContextSource } from "../ports/context-source.ts";
import type { Ids } from "../ports/ids.ts";
import type { Live } from "../ports/live.ts";
import type { Memory } from "../ports/memory.ts";
import type { Placement } from "../ports/placement.ts";
import type { Store } from "../ports/store.ts";
import type { Workspace } from "../ports/workspace.ts";
import { isStandard } from "../tools/schema.ts";
import type { ToolSet } from "../tools/tool.ts";
import type { WorkerLimits } from "../workers/worker.ts";

/** `Values`: the type of the state of a thread, from the `stateSchema`. */
export interface HarnessConfig<Values = StateValues> {
  id: string;
  /** Default: in memory, and lost with the process. */
  storage?: Store;
  /** One agent, or several under the names of modes. */
  agent?: Agent;
  modes?: ModeConfig[];
  defaultModeId?: string;
  tools?: ToolSet;
  /** The agents that the agents of modes can delegate to, unless they have subagents of their own. */
  subagents?: Subagents;
  /** The files and commands that agents can reach. */
  workspace?: Workspace;
  /** Keeps prompts within the model's window: `observationalMemory()` or `summaries()` of `@cinch/memory`. Default: prompts only grow. */
  memory?: Memory;
  /** What adds to every prompt: skills, AGENTS.md, texts of your own. */
  context?: readonly ContextSource[];
  /** How many tokens a model takes: one number for all models, or by the model's name. */
  contextWindow?: ContextWindow;
  /** Rules for all threads. The rules of a thread can't allow what these deny. */
  permissions?: Rule[];
  /** Tools that ask before they run: always, or for some arguments. */
  interruptOn?: InterruptOn;
  /** Overrides the category of a tool. */
  toolCategory?: (toolName: string) => ToolCategory | undefined;
  /** What happens to a call that has to ask: it waits for a person, or is declined, for runs without a person. */
  onAsk?: "wait" | "decline";
  /** The schema of the state of a thread. */
  stateSchema?: StandardSchemaV1<unknown, Values>;
  initialState?: NoInfer<StateUpdates<Values>>;
  /** What a turn may use; under `thread`, what a whole thread may use. */
  budget?: Budget;
  /** Override the built-in table, model by model. */
  prices?: PriceTable;
  /** The owner of the threads, in a store that several people or projects share. */
  resourceId?: string;
  resolveModel?: ResolveModel;
  /** What happens to an interrupted turn when its thread is opened: it continues, or is parked until `resume()`. */
  onRecover?: "resume" | "pause";
  /** Whether this process also continues turns of threads that it has not open: those that dead processes have left, from `init` on. */
  recover?: "opened" | "all";
  /** Brings threads to the processes that drive them. Default: every process drives the threads that it has open. */
  placement?: Placement;
  /** Beside a `placement`: this process drives threads, at most so many. Left out, it is a front: its sessions watch and command. */
  worker?: Partial<WorkerLimits>;
  /** Work that is repeated at an interval, from `init` until `close`. */
  heartbeats?: Heartbeat[];
  /** Shows what other processes drive as it happens: `peerLive()` of `@cinch/postgres`. Default: by drafts, twice a second. */
  live?: Live;
  clock?: Clock;
  ids?: Ids;
}

const limit = z.optional(z.int("must be a whole number from 1").check(z.gte(1, "must be a whole number from 1")));
const fn = <T>() => z.custom<T>((value) => typeof value === "function", "must be a function");
export const HarnessOptions = z.strictObject({
  id: z.string().check(z.minLength(1)),
  storage: z.optional(StoreValue),
  agent: z.optional(AgentValue),
  modes: z.optional(z.array(ModeConfig).check(z.minLength(1))),
  defaultModeId: z.optional(z.string()),
  tools: z.optional(ToolValues),
  subagents: z.optional(SubagentsValue),
  workspace: z.optional(WorkspaceValue),
  memory: z.optional(MemoryValue),
  context: z.optional(ContextSources),
  contextWindow: z.optional(ContextWindow),
  permissions: z.optional(z.array(Rule)),
  interruptOn: z.optional(InterruptOn),
  toolCategory: z.optional(fn<(toolName: string) => ToolCategory | undefined>()),
  onAsk: z.optional(z.enum(["wait", "decline"])),
  stateSchema: z.optional(z.custom<StandardSchemaV1>(isStandard, "must be a Standard Schema, such as z.object({ … })")),
  initialState: z.optional(z.record(z.string(), z.unknown())),
  budget: z.optional(Budget),
  prices: z.optional(Prices),
  resourceId: z.optional(z.string().check(z.minLength(1))),
  resolveModel: z.optional(fn<ResolveModel>()),
  onRecover: z.optional(z.enum(["resume", "pause"])),
  recover: z.optional(z.enum(["opened", "all"])),
  placement: z.optional(PlacementValue),
  worker: z.optional(z.strictObject({ maxThreads: limit, maxPerResource: limit })),
  heartbeats: z.optional(HeartbeatList),
  live: z.optional(LiveValue),
  clock: z.optional(ClockValue),
  ids: z.optional(fn<Ids>()),
});

type ValidConfig = z.infer<typeof HarnessOptions>;

export function modesOf({ agent, modes }: ValidConfig): ModeConfig[] {
  if ((agent === undefined) === (modes === undefined)) {
    throw new CinchError("INVALID_CONFIG", "Harness: give it either an agent or modes.");
  }
  return modes ?? [{ id: "default", agent: agent! }];
}

const DEFAULT_LIMITS: WorkerLimits = { maxThreads: 100, maxPerResource: 20 };

/** The limits of a worker. `null`: this process is a front, or there is no placement. */
export function workerLimits({ placement, worker, workspace }: ValidConfig): WorkerLimits | null {
  if (worker && !placement)
    throw new CinchError("INVALID_CONFIG", "Harness: worker needs a placement, which brings threads to workers.");
  if (placement && workspace?.isLocal)
    throw new CinchError(
      "INVALID_CONFIG",
      "Harness: the workspace is on the disk of this machine, and with a placement a thread moves between machines. If all of them have the same folder there, give the workspace shared: true.",
    );
  if (!worker) return null;
  const { maxThreads = DEFAULT_LIMITS.maxThreads, maxPerResource = DEFAULT_LIMITS.maxPerResource } = worker;
  return { maxThreads, maxPerResource };
}
