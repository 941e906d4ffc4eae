/** The harness itself: events, folds, threads, sessions and the turn loop. It decides, and touches no disk or network of its own. */
import { refuseOldNode } from "./node-version.ts";

export {
  Agent,
  checkModel,
  type AgentConfig,
  type Instructions,
  type Model,
  type OnSubagentEvent,
  type SubagentCatalog,
  type SubagentConfig,
  type Subagents,
} from "./config/agent.ts";
export type { Budget } from "./config/budget.ts";
export { checkKeys } from "./config/check.ts";
export type { HarnessConfig } from "./config/harness-config.ts";
export type { Heartbeat } from "./config/heartbeats.ts";
export type { HarnessMode, ModeConfig } from "./config/modes.ts";
export { didYouMean } from "./config/nearest.ts";
export { registerProfile, type Profile } from "./config/profiles.ts";
export { defaultPrices, type Price, type PriceTable } from "./config/prices.ts";
export type { Settings } from "./config/settings.ts";
export type { SubagentBackground, SubagentSessions } from "./config/subagent-options.ts";
export type { StateUpdates, StateValues, WholeState } from "./config/state-shape.ts";
export type { ApprovalAnswer, SuspensionAnswer } from "./commands/answers.ts";
export type { CloneOptions } from "./commands/clone.ts";
export type { Compacted } from "./commands/compact.ts";
export type { CreateOptions } from "./commands/create-thread.ts";
export type { FollowUp, Input, InputFile } from "./commands/input.ts";
export type { RewindOptions, RewindResult } from "./commands/rewind.ts";
export { CinchError, type ErrorCode } from "./errors.ts";
export type {
  Decision,
  Delivery,
  DurableEvent,
  DurableType,
  Effect,
  EndReason,
  EventType,
  HarnessEvent,
  LiveEvent,
  LiveType,
  RunStatus,
  Task,
} from "./events/event-map.ts";
export type { AllowedTool } from "./events/context-events.ts";
export type { FileDiff, RewoundFile } from "./events/files.ts";
export {
  textOf,
  type FilePart,
  type Json,
  type Message,
  type Part,
  type Role,
  type TextPart,
  type ToolCallPart,
  type ToolResult,
  type Usage,
} from "./events/message.ts";
export {
  isSuspendedBy,
  type AskUserPayload,
  type SubmitPlanPayload,
  type SuspendPayloads,
} from "./events/suspend-payload.ts";
export { newDisplayState, reduceDisplay } from "./folds/display.ts";
export type {
  ActiveSubagent,
  ActiveTool,
  HarnessDisplayState,
  HarnessMessage,
  PendingApproval,
  PendingSuspension,
} from "./folds/display-state.ts";
export type { InboxItem } from "./folds/inbox.ts";
export type { ModifiedFile } from "./folds/modified.ts";
export { Harness, type SessionOptions } from "./harness.ts";
export type { LanguageModel } from "./model/compat.ts";
export type { InterruptOn } from "./permissions/gate.ts";
export type { Fit } from "./permissions/judge.ts";
export type { PathRule, PathRuleLists } from "./permissions/path-rule.ts";
export type { HeldRule, Policy, Rule, ToolCategory } from "./permissions/rule.ts";
export { systemClock, type Clock } from "./ports/clock.ts";
export type { Ids } from "./ports/ids.ts";
export type {
  BlockText,
  Boundary,
  ContextPlan,
  ContextView,
  Cut,
  Memory,
  MemoryJob,
  Observed,
  Quote,
  TextRequest,
} from "./ports/memory.ts";
export type { ContextSource, SourceReach, SourceText } from "./ports/context-source.ts";
export type { DriveOutcome, Placement } from "./ports/placement.ts";
export type { HarnessMetrics } from "./workers/harness-metrics.ts";
export type { LatencySummary } from "./workers/latencies.ts";
export type { WorkerLimits } from "./workers/worker.ts";
export type { Live, LiveFrame, LivePosition, LiveReader, LiveSource, ReadFrame, StoredEvent } from "./ports/live.ts";
export { memoryStore } from "./ports/memory-store.ts";
export type { Workspace, WorkspaceReader, WorkspaceStatus } from "./ports/workspace.ts";
export type { EventQuery, FoundEvent, Store, ThreadListChange, ThreadQuery, ThreadRecord } from "./ports/store.ts";
export type { ThreadApproval, ThreadSuspension } from "./queries/pending.ts";
export type { ContextExplanation } from "./queries/explain-context.ts";
export type { HistoryQuote, ThreadHistory } from "./queries/thread-history.ts";
export type { ThreadFile } from "./queries/thread-file.ts";
export type { Settled } from "./queries/settled.ts";
export type { Session } from "./session.ts";
export type { TurnResult } from "./thread/turn-results.ts";
export {
  defineTool,
  type AnyTool,
  type JudgeContext,
  type PreviewContext,
  type SkillToLoad,
  type Tool,
  type ToolContent,
  type ToolContext,
  type ToolDefinition,
  type ToolFile,
  type ToolOutput,
  type ToolSet,
} from "./tools/tool.ts";

refuseOldNode();
