import * as z from "zod/mini";
import { RunStatus } from "./end-reason.ts";
import { command, driver, live } from "./event-entry.ts";
import { Json, ToolResult, Usage } from "./message.ts";

const tool = { toolCallId: z.string(), toolName: z.string() };
/** Of one thread, without its subagents. `delegating`: it waits for them. */
const ThreadStatus = z.enum(["running", "waiting", "delegating", "parked", "idle"]);
export type ThreadStatus = z.infer<typeof ThreadStatus>;
/** The work of one `task` call. `runId` is the key of the call, and the id of the child's input. */
const run = () => ({
  ...tool,
  runId: z.string(),
  agentName: z.string(),
  childThreadId: z.string(),
  path: z.array(z.string()),
});
/** A run that a rewind has cancelled, although its start is reverted: it must still be ended. */
export const RevertedRun = z.lazy(() => z.omit(z.object({ ...run(), turnId: z.string() }), { toolName: true }));
const ofChild = () => ({
  childThreadId: z.string(),
  path: z.array(z.string()),
  status: ThreadStatus,
});

/** The part of the event map that is about subagents. */
export const subagentEvents = {
  /** Has everything that starting the run takes, so that any process can start it. */
  subagent_start: driver(() => ({
    ...run(),
    task: z.string(),
    /** The child's input, if it is more than the task. */
    input: z.optional(z.string()),
    forked: z.boolean(),
    session: z.enum(["stateless", "new", "resume", "fork"]),
    /** The child begins as a clone of this thread at this event. */
    source: z.optional(z.object({ threadId: z.string(), seq: z.number() })),
    modeId: z.string(),
    /** The model of the caller, for an agent that has none of its own. */
    modelId: z.optional(z.string()),
    depth: z.number(),
    background: z.optional(
      z.object({
        agentId: z.string(),
        /** It is queued while this many earlier ones have not ended. */
        maxConcurrent: z.optional(z.number()),
        timeoutMs: z.optional(z.number()),
        wake: z.boolean(),
      }),
    ),
  })),
  subagent_end: command(() => ({
    ...run(),
    result: ToolResult,
    /** Its call has ended long before; a later call of the turn may have the same id. */
    background: z.optional(z.literal(true)),
    isError: z.boolean(),
    status: RunStatus,
    durationMs: z.number(),
    usage: Usage,
    cost: z.nullable(z.number()),
  })),
  subagent_text_delta: live(() => ({ ...ofChild(), delta: z.string() })),
  subagent_tool_start: live(() => ({ ...ofChild(), ...tool, args: Json })),
  subagent_tool_end: live(() => ({
    ...ofChild(),
    ...tool,
    result: ToolResult,
    isError: z.boolean(),
    durationMs: z.number(),
  })),
  /** Any other event of a descendant. Its `seq` is the descendant's. */
  subagent_event: live(() => ({ ...ofChild(), event: z.custom<unknown>() })),
  background_started: driver(() => ({
    agentId: z.string(),
    runId: z.string(),
    childThreadId: z.string(),
    status: z.enum(["queued", "running"]),
  })),
  background_settled: command(() => ({
    agentId: z.string(),
    runId: z.string(),
    childThreadId: z.string(),
    status: RunStatus,
  })),
};
