import * as z from "zod/mini";
import { checked } from "../config/check.ts";
import { CinchError } from "../errors.ts";
import { contextEvents } from "./context-events.ts";
import { EndReason } from "./end-reason.ts";
import { command, CommandMark, driver, given, live, signature, type EventEntry } from "./event-entry.ts";
import { offloadedFields } from "./offloaded.ts";
import { FilePart, Json, Message, Role, ToolResult, Usage } from "./message.ts";
import type { HarnessDisplayState } from "../folds/display-state.ts";
import { PathRuleLists } from "../permissions/path-rule.ts";
import { MISFIT, copierOf } from "./schema-copy.ts";
import { RevertedRun, subagentEvents } from "./subagent-events.ts";
import { workspaceEvents } from "./workspace-events.ts";
import { HeldRule, Rule, ToolCategory } from "../permissions/rule.ts";

export { EndReason, RunStatus } from "./end-reason.ts";
export type { ThreadStatus } from "./subagent-events.ts";

const Parent = z.lazy(() => z.object({ threadId: z.string(), seq: z.number(), toolCallId: z.optional(z.string()) }));
/** Makes a thread a subagent's, and names its agent for every process. */
export const AgentRecord = z.lazy(() =>
  z.object({
    /** The names of the subagents from the outermost to this one. */
    path: z.array(z.string()),
    /** The thread whose call started it. */
    owner: z.string(),
    rootThreadId: z.string(),
    /** The mode of the top-level thread's step that delegated. */
    modeId: z.string(),
    /** How many levels of subagents may be below it. */
    depth: z.number(),
  }),
);
export type AgentRecord = z.infer<typeof AgentRecord>;
/** `tokens` are estimated. */
const SourceVersion = z.lazy(() => z.object({ version: z.string(), tokens: z.number() }));
export type SourceVersion = z.infer<typeof SourceVersion>;
export const Delivery = z.enum(["send", "steer", "follow_up"]);
const tool = { toolCallId: z.string(), toolName: z.string() };
const state = z.record(z.string(), Json);
/** A subagent as the `task` tool lists it. */
const ListedAgent = z.lazy(() => z.object({ name: z.string(), description: z.string() }));
export type ListedAgent = z.infer<typeof ListedAgent>;
export const Effect = z.enum(["pure", "idempotent", "once"]);
export type Effect = z.infer<typeof Effect>;
export type Delivery = z.infer<typeof Delivery>;
export const Decision = z.enum(["approve", "decline", "edit", "always_allow_tool", "always_allow_category"]);
export type Decision = z.infer<typeof Decision>;
export const Task = z.lazy(() =>
  z.object({
    id: z.string(),
    content: z.string(),
    status: z.enum(["pending", "in_progress", "completed"]),
    activeForm: z.string(),
  }),
);
export type Task = z.infer<typeof Task>;
/** What a thread has used so far. A rewind does not reset it. `cost` is in dollars, and leaves out answers of unknown price. */
export const Spent = z.lazy(() =>
  z.object({ steps: z.number(), ms: z.number(), cost: z.number(), unpriced: z.boolean() }),
);
export type Spent = z.infer<typeof Spent>;

/** A command that the thread has accepted: where, and when. */
export const GivenCommand = z.lazy(() => z.extend(CommandMark, { seq: z.number(), at: z.number() }));
export type GivenCommand = z.infer<typeof GivenCommand>;

/** The vocabulary of journal, subscribers, wire and UIs. To add an event, add one entry here, and use it in the folds. */
export const eventMap = {
  thread_created: driver(() => ({
    ...signature,
    title: z.string(),
    resourceId: z.string(),
    parent: z.optional(Parent),
    agent: z.optional(AgentRecord),
    metadata: z.optional(z.record(z.string(), Json)),
    pathRules: z.optional(PathRuleLists),
    /** For display: the first mode and model of the thread, and whether YOLO is on although the thread has not set it. */
    modeId: z.optional(z.string()),
    modelId: z.optional(z.string()),
    yolo: z.optional(z.boolean()),
  })),
  thread_renamed: command(() => ({ ...given, title: z.string() })),
  /** `rules` and `state` (YOLO) are the source's when the clone is created, not those at `parent.seq`. */
  thread_cloned: driver(() => ({
    ...signature,
    title: z.string(),
    parent: Parent,
    agent: z.optional(AgentRecord),
    rules: z.array(HeldRule),
    state,
    pathRules: z.optional(PathRuleLists),
  })),
  thread_rewound: driver(() => ({
    ...given,
    toSeq: z.number(),
    files: z.boolean(),
    rules: z.array(HeldRule),
    grants: z.array(HeldRule),
    usage: Usage,
    title: z.optional(z.string()),
    spent: z.optional(Spent),
    memoryUsed: z.optional(z.object({ usage: Usage, cost: z.number() })),
    state: z.optional(state),
    pathRules: z.optional(PathRuleLists),
    agent: z.optional(AgentRecord),
    /** The commands with an id that are reverted: they were given nevertheless, and must not happen again. */
    commands: z.optional(z.array(GivenCommand)),
    /** The unfinished runs whose start is reverted. They are cancelled. */
    runs: z.optional(z.array(RevertedRun)),
  })),
  thread_changed: live(() => ({ previousThreadId: z.nullable(z.string()) })),
  thread_deleted: live(() => ({ previousThreadId: z.nullable(z.string()) })),
  resync: live(() => ({ seq: z.number(), displayState: z.custom<unknown>() })),

  input_accepted: command(
    () => ({
      ...given,
      inputId: z.string(),
      delivery: Delivery,
      content: z.string(),
      files: z.optional(z.array(FilePart)),
      /** The caller chose the id. A second input with the same id is ignored. */
      named: z.optional(z.boolean()),
      /** Written by the harness: it is taken as a note, and never stands as the user's words. */
      note: z.optional(z.boolean()),
      /**
       * Continues after the turn `retry.turnId`, in a new turn with the `turnId` of this event. There is no message, and nothing is
       * queued: this event begins the turn.
       */
      retry: z.optional(z.object({ turnId: z.string(), modeId: z.string(), modelId: z.string() })),
      /** When the input is queued, in ms. */
      dueAt: z.optional(z.number()),
    }),
    { v: 2, fields: ["dueAt"] },
  ),
  input_edited: command(() => ({ ...given, inputId: z.string(), content: z.string() })),
  input_removed: command(() => ({ ...given, inputId: z.string() })),
  abort_requested: command(() => ({
    ...given,
    turnId: z.optional(z.string()),
    inbox: z.optional(z.boolean()),
    /** By a rewind: runs in the background go on, unless their start is reverted. */
    keepsBackground: z.optional(z.boolean()),
  })),
  input_taken: driver(() => ({ inputId: z.string() })),
  follow_up_queued: live(() => ({ count: z.number(), inputId: z.string() })),
  steer_queued: live(() => ({ count: z.number(), inputId: z.string() })),

  agent_start: driver(() => ({
    modeId: z.string(),
    modelId: z.string(),
    resumed: z.boolean(),
    /** The previous driver died without releasing the lease. Three takeovers without progress park the thread. */
    takeover: z.optional(z.boolean()),
    /** Written by a closing driver: the calls that it recorded as started and has not run. The next driver may run them. */
    unstarted: z.optional(z.array(z.string())),
  })),
  agent_end: driver(() => ({
    reason: EndReason,
    /** Which limit was reached. */
    detail: z.optional(z.string()),
    /** For an aborted turn with queued inputs: whether these wait for the next input or for `resume()`. */
    held: z.optional(z.boolean()),
  })),
  step_start: live(() => ({ step: z.number() })),
  step_end: driver(() => ({ finishReason: z.string(), usage: Usage })),
  prompt_head: driver(() => ({
    blob: z.string(),
    key: z.string(),
    reason: z.string(),
    agentName: z.optional(z.string()),
    modelId: z.optional(z.string()),
    /** A hash of what the model's profile changes in the head, if it changes anything. */
    profile: z.optional(z.string()),
    /** Estimated. */
    tokens: z.optional(z.number()),
    /** By name, the context sources whose texts are in the head. */
    sources: z.optional(z.record(z.string(), SourceVersion)),
    /** Those that the agent can delegate to: the list of its catalog at the beginning of the turn. */
    subagents: z.optional(z.array(ListedAgent)),
  })),
  error: driver(() => ({
    code: z.string(),
    message: z.string(),
    retryable: z.boolean(),
    /** The turn is parked until `resume()`. */
    parked: z.optional(z.boolean()),
  })),
  info: live(() => ({
    message: z.string(),
    /** The turn stands still until then. */
    waitsFor: z.optional(z.literal("store")),
  })),
  retry_scheduled: live(() => ({ attempt: z.number(), delayMs: z.number(), message: z.string() })),

  message_start: live(() => ({ messageId: z.string(), role: Role })),
  message_update: live(() => ({
    messageId: z.string(),
    role: Role,
    /** Which text of the message grows, counted from 0. */
    index: z.number(),
    part: z.enum(["text", "reasoning"]),
    delta: z.string(),
  })),
  message_discarded: live(() => ({ messageId: z.string(), role: Role, reason: z.string() })),
  message_end: driver(() => ({
    /** Of a user message: the person who wrote it. */
    ...signature,
    message: Message,
    interrupted: z.optional(z.boolean()),
    finishReason: z.optional(z.string()),
    /** What a note of the harness is about. */
    about: z.optional(z.enum(["mode", "tasks", "context"])),
    /** The context source that a note is about. `version` is "" if the source has no text any more. */
    source: z.optional(z.object({ name: z.string(), version: z.string() })),
    /** The profile that a note is about: a hash of what it changes in a head. */
    profile: z.optional(z.string()),
  })),

  tool_input_start: live(() => tool),
  tool_input_delta: live(() => ({ ...tool, argsTextDelta: z.string() })),
  tool_input_end: live(() => tool),
  tool_start: driver(() => ({ ...tool, args: Json, key: z.string(), effect: Effect })),
  tool_update: live(() => ({ ...tool, partialResult: Json })),
  tool_end: driver(() => ({
    ...tool,
    result: ToolResult,
    isError: z.boolean(),
    unknown: z.optional(z.boolean()),
    durationMs: z.number(),
    /** `args`: those that a person gave the call. `reads`: by path, the version of each file that it has read. */
    args: z.optional(Json),
    reads: z.optional(z.record(z.string(), z.string())),
  })),
  shell_output: live(() => ({ ...tool, output: z.string(), stream: z.enum(["stdout", "stderr"]) })),
  tool_approval_required: driver(() => ({
    ...tool,
    args: Json,
    category: ToolCategory,
    /** A hash of the tool and its arguments. An answer holds only for the digest that it names. */
    digest: z.string(),
    /** The narrow pattern that `always_allow_tool` remembers. */
    suggestion: z.optional(z.string()),
    preview: z.optional(Json),
    /** The accepted answers. */
    decisions: z.array(Decision),
    /** The call asks because of `interruptOn`, or because this loaded skill does not list it. */
    interrupt: z.optional(z.boolean()),
    skill: z.optional(z.string()),
    /** The agents from the outermost to the one that asks. */
    path: z.array(z.string()),
    /** The thread above this one whose rules ask: a grant is added there. */
    grantTo: z.optional(z.string()),
  })),
  tool_approval_resolved: command(() => ({
    ...given,
    ...tool,
    decision: Decision,
    digest: z.string(),
    args: z.optional(Json),
    message: z.optional(z.string()),
  })),
  tool_suspended: driver(() => ({
    ...tool,
    args: Json,
    suspendPayload: Json,
    /** It waits for background children, and no person can answer it. */
    forChildren: z.optional(z.boolean()),
  })),
  tool_resumed: command(() => ({
    ...given,
    ...tool,
    resumeData: Json,
    /** How long the subagents have worked that the call waited for. */
    workedMs: z.optional(z.number()),
  })),

  mode_changed: command(() => ({
    ...given,
    modeId: z.string(),
    previousModeId: z.string(),
    /** For display: the model of that mode. */
    modelId: z.optional(z.string()),
  })),
  model_changed: command(() => ({
    ...given,
    modelId: z.string(),
    scope: z.enum(["mode", "thread"]),
    modeId: z.string(),
  })),
  state_changed: command(() => ({ ...given, updates: state })),
  permission_changed: command(() => ({ ...given, rule: Rule })),
  grant_added: command(() => ({
    ...given,
    rule: Rule,
    /** The id of the call whose approval added the grant, or "session". */
    from: z.string(),
    interrupt: z.optional(z.boolean()),
  })),
  ...workspaceEvents,
  task_updated: driver(() => ({ tasks: z.array(Task) })),
  context_offloaded: driver(offloadedFields),
  usage_update: driver(() => ({
    usage: Usage,
    cost: z.nullable(z.number()),
    cachedShare: z.number(),
    /** The answer was discarded, because it was empty, refused or broken. Its usage counts, but it is not a step. */
    failed: z.optional(z.boolean()),
    /** The part of the harness that asked the model. Left out: a step of the turn. */
    source: z.optional(z.string()),
  })),
  ...subagentEvents,
  ...contextEvents,
  display_state_changed: live(() => ({})),
} satisfies Record<string, EventEntry>;

type EventMap = typeof eventMap;
type Fields<T> = T extends Record<string, never> ? unknown : T;
type Of<T extends keyof EventMap> = { type: T } & Fields<z.infer<EventMap[T]["schema"]>>;
type TypesBy<By> = { [T in keyof EventMap]: EventMap[T]["by"] extends By ? T : never }[keyof EventMap];

export type EventType = keyof EventMap;
export type DurableType = TypesBy<"command" | "driver">;
export type LiveType = TypesBy<"live">;

/** An event without the fields that `stamp` adds. */
export type NewEvent<T extends DurableType = DurableType> = T extends DurableType ? Of<T> & { turnId?: string } : never;
/** An event that can be appended. The store assigns its `seq`, and a read adds its `threadId`. */
export type StampedEvent<T extends DurableType = DurableType> = NewEvent<T> & { v: number; at: number };
export type DurableEvent<T extends DurableType = DurableType> = StampedEvent<T> & { seq: number; threadId: string };
export type LiveEvent<T extends LiveType = LiveType> = T extends LiveType
  ? Of<T> & { threadId: string; at: number; turnId?: string }
  : never;
/** Everything a subscriber can see. `message` and `displayState` are getters that cost nothing until they are read. */
export type HarnessEvent =
  | Exclude<DurableEvent | LiveEvent, { type: "message_update" | "display_state_changed" | "resync" }>
  | (LiveEvent<"message_update"> & { readonly message: Message })
  | (LiveEvent<"display_state_changed"> & { readonly displayState: HarnessDisplayState })
  | (Omit<LiveEvent<"resync">, "displayState"> & { displayState: HarnessDisplayState });

/** Without a prototype, so that a type such as "constructor" is unknown. */
const entries: Record<string, EventEntry | undefined> = Object.assign(Object.create(null) as object, eventMap);

export const durableTypes = Object.keys(eventMap).filter((type) => entries[type]?.by !== "live") as DurableType[];

/** Whether only the process that drives the thread may append this event. */
export const needsLease = (event: { type: string }): boolean => entries[event.type]?.by === "driver";

/** Checks an event against the map and adds version and time. Throws `INVALID_INPUT`: nothing malformed is written. */
export function stamp(event: NewEvent, at: number): StampedEvent {
  const found = entries[event.type];
  if (!found || found.by === "live") throw new CinchError("INVALID_INPUT", `"${event.type}" is not a durable event.`);
  const fields = fieldsOf(event, found.schema);
  const turn = event.turnId === undefined ? {} : { turnId: event.turnId };
  const { newer } = found;
  const isNewer = newer?.fields.some((field) => (fields as Record<string, unknown>)[field] !== undefined);
  const v = newer && isNewer ? newer.v : found.v;
  return { type: event.type, v, at, ...turn, ...fields } as StampedEvent;
}

/** By event type. */
const copiers = new Map<string, ReturnType<typeof copierOf>>();

/** A copy of the fields that the schema knows. Only zod can say why an event does not fit. */
function fieldsOf(event: NewEvent, schema: EventEntry["schema"]): object {
  const copy = copiers.get(event.type) ?? copierOf(schema);
  copiers.set(event.type, copy);
  const fields = copy(event);
  if (fields !== MISFIT) return fields as object;
  return checked(schema, event, "INVALID_INPUT", `"${event.type}" is malformed`);
}

/** Converts an event of an older release to the current version. Returns an unknown event unchanged. */
export function lift<E extends { type: string; v: number }>(
  event: E,
  map: Record<string, EventEntry | undefined> = entries,
): E {
  const found = map[event.type];
  if (!found || event.v >= found.v) return event;
  let lifted: Record<string, unknown> = { ...event };
  for (let v = event.v; v < found.v; v++) lifted = { ...found.lifts[v - 1]!(lifted), v: v + 1 };
  return lifted as E;
}

/** True for an event of a type or version that this release does not know: a display skips it, a driver stops at it. */
export function isForeign(event: { type: string; v: number }): boolean {
  const found = entries[event.type];
  return !found || event.v > (found.newer?.v ?? found.v);
}
