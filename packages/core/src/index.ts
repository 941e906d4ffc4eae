/** The harness itself: events, folds, threads, sessions and the turn loop. It decides, and touches no disk or network of its own. */
export { Agent, DEFAULT_MAX_STEPS, type AgentConfig, type Instructions, type Model } from "./agent.ts";
export { checkKeys } from "./check.ts";
export { CinchError, type ErrorCode } from "./errors.ts";
export * from "./events.ts";
export { reduceDisplay } from "./folds/display.ts";
export {
  MESSAGES_SHOWN,
  newDisplayState,
  type HarnessDisplayState,
  type HarnessMessage,
  type ActiveTool,
  type PendingApproval,
  type PendingSuspension,
} from "./folds/display-state.ts";
export { reduceInbox, type InboxItem } from "./folds/inbox.ts";
export { newThreadState, reduceThread, type ThreadState } from "./folds/state.ts";
export { emptyTranscript, reduceTranscript, type Transcript } from "./folds/transcript.ts";
export * from "./files.ts";
export { Harness, type HarnessConfig } from "./harness.ts";
export type { Heartbeat } from "./heartbeats.ts";
export type { Input, InputFile } from "./input.ts";
export { MemoryData, MemoryStore, memoryStore, threadNotFound } from "./memory-store.ts";
export * from "./message.ts";
export type { LanguageModel } from "./model/compat.ts";
export { toPrompt, type Head } from "./model/prompt.ts";
export { randomIds, systemClock, type Clock, type Ids } from "./ports.ts";
export { defaultPrices, type Price, type PriceTable } from "./prices.ts";
export type { Session } from "./session.ts";
export type { Settled } from "./settled.ts";
export type { Settings } from "./settings.ts";
export type { StateUpdates, StateValues, WholeState } from "./state-shape.ts";
export * from "./store.ts";
export { isSuspendedBy, type AskUserPayload, type SubmitPlanPayload, type SuspendPayloads } from "./suspension.ts";
export type { TurnResult } from "./waiters.ts";
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
} from "./tool.ts";
export type { HarnessMode, ModeConfig } from "./modes.ts";
export type { Budget } from "./budget.ts";
export type { ThreadApproval } from "./pending.ts";
export type { InterruptOn } from "./permissions/gate.ts";
export { judge, type Case, type Finding, type Fit, type Ruling } from "./permissions/judge.ts";
export { HeldRule, Policy, Rule, ToolCategory } from "./permissions/rule.ts";
export type { ApprovalAnswer, SuspensionAnswer } from "./answers.ts";
export type { FileReach, LookedAt, Undo, Workspace, WorkspaceHost, WorkspaceStatus } from "./workspace.ts";
export type { RewindOptions, RewindResult } from "./rewind.ts";
export type { ModifiedFile } from "./folds/modified.ts";
