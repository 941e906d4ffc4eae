/** The harness itself: events, folds, threads, sessions and the turn loop. It decides, and touches no disk or network of its own. */
export { Agent, DEFAULT_MAX_STEPS, type AgentConfig, type Instructions, type Model } from "./config/agent.ts";
export { checkKeys } from "./config/check.ts";
export { CinchError, type ErrorCode } from "./errors.ts";
export * from "./events/event-map.ts";
export { reduceDisplay } from "./folds/display.ts";
export {
  MESSAGES_SHOWN,
  type HarnessDisplayState,
  type HarnessMessage,
  type ActiveTool,
  type PendingApproval,
  type PendingSuspension,
} from "./folds/display-state.ts";
export { newDisplayState } from "./folds/display.ts";
export { reduceInbox, type InboxItem } from "./folds/inbox.ts";
export { newThreadState, reduceThread, type ThreadState } from "./folds/state.ts";
export { emptyTranscript, reduceTranscript, type Transcript } from "./folds/transcript.ts";
export * from "./events/files.ts";
export { Harness, type HarnessConfig } from "./harness.ts";
export type { Heartbeat } from "./config/heartbeats.ts";
export type { Input, InputFile } from "./commands/input.ts";
export { MemoryData, MemoryStore, memoryStore, threadNotFound } from "./ports/memory-store.ts";
export * from "./events/message.ts";
export { addUsage, noUsage } from "./events/usage.ts";
export type { LanguageModel } from "./model/compat.ts";
export { toPrompt, type Head } from "./model/prompt.ts";
export { randomIds, type Ids } from "./ports/ids.ts";
export { systemClock, type Clock } from "./ports/clock.ts";
export { defaultPrices, type Price, type PriceTable } from "./config/prices.ts";
export type { Session } from "./session.ts";
export type { Settled } from "./queries/settled.ts";
export type { Settings } from "./config/settings.ts";
export type { StateUpdates, StateValues, WholeState } from "./config/state-shape.ts";
export * from "./ports/store.ts";
export {
  isSuspendedBy,
  type AskUserPayload,
  type SubmitPlanPayload,
  type SuspendPayloads,
} from "./events/suspend-payload.ts";
export type { TurnResult } from "./thread/turn-results.ts";
export {
  defineTool,
  type Tool,
  type JudgeContext,
  type ToolContext,
  type ToolContent,
  type ToolDefinition,
  type ToolFile,
  type ToolOutput,
  type ToolSet,
} from "./tools/tool.ts";
export type { HarnessMode, ModeConfig } from "./config/modes.ts";
export type { Budget } from "./config/budget.ts";
export type { ThreadApproval } from "./queries/pending.ts";
export type { InterruptOn } from "./permissions/gate.ts";
export { judge, type Case, type Finding, type Fit, type Ruling } from "./permissions/judge.ts";
export { HeldRule, Policy, Rule, ToolCategory } from "./permissions/rule.ts";
export type { ApprovalAnswer, SuspensionAnswer } from "./commands/answers.ts";
export type { FileReach, LookedAt, Undo, Workspace, WorkspaceHost, WorkspaceStatus } from "./ports/workspace.ts";
export type { RewindOptions, RewindResult } from "./commands/rewind.ts";
export type { ModifiedFile } from "./folds/modified.ts";
