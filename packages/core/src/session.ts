import { answerApproval, answerSuspension, type ApprovalAnswer, type SuspensionAnswer } from "./commands/answers.ts";
import type { AnswerAddress, FindCall, WaitingState } from "./commands/answer-target.ts";
import { cloneThread, type CloneOptions } from "./commands/clone.ts";
import { compactedBefore, requestCompaction, type Compacted } from "./commands/compact.ts";
import { explainContext, type ContextExplanation } from "./queries/explain-context.ts";
import { createThread, type CreateOptions } from "./commands/create-thread.ts";
import { addGrant, rename, setRule, setState, switchMode, switchModel } from "./commands/thread-settings.ts";
import type { ModelSwitch } from "./commands/thread-settings.ts";
import type { Delivery, DurableEvent, HarnessEvent } from "./events/event-map.ts";
import type { FileDiff } from "./events/files.ts";
import { newControl, type Control } from "./folds/control.ts";
import { trieRecord } from "./folds/trie.ts";
import type { HarnessDisplayState, HarnessMessage } from "./folds/display-state.ts";
import type { NewLive } from "./events/live-events.ts";
import type { InboxItem } from "./folds/inbox.ts";
import { messagesOf } from "./queries/history.ts";
import { resultOfInput } from "./queries/input-result.ts";
import { eventsOf } from "./queries/thread-events.ts";
import { fileOf, type ThreadFile } from "./queries/thread-file.ts";
import { abort, abortEnded } from "./commands/abort.ts";
import { prepareInput, editQueued, post, removeQueued, send, type FollowUp, type Input } from "./commands/input.ts";
import { resume } from "./commands/resume.ts";
import type { Usage } from "./events/message.ts";
import type { HarnessMode, Modes } from "./config/modes.ts";
import { optionsOf, type CheckedOptions } from "./commands/options.ts";
import { plainRule, type Policy, type Rule, type ToolCategory } from "./permissions/rule.ts";
import type { Ids } from "./ports/ids.ts";
import type { ReachableThreads } from "./thread/reachable-threads.ts";
import { Seat, type SeatOwner } from "./thread/seat.ts";
import type { SignedThread, Action } from "./thread/signed-thread.ts";
import { retriedBefore, retry } from "./commands/retry.ts";
import { diffSince, rewindThread, rewoundBefore, type RewindOptions, type RewindResult } from "./commands/rewind.ts";
import type { StateShape, StateUpdates, StateValues, WholeState } from "./config/state-shape.ts";
import type { ThreadQuery, ThreadRecord } from "./ports/store.ts";
import type { Listener } from "./thread/subscriber.ts";
import { settled, type Settled } from "./queries/settled.ts";
import { SeatCommands } from "./thread/seat-commands.ts";
import type { Thread } from "./thread/thread.ts";
import type { TurnResult } from "./thread/turn-results.ts";

export interface SessionPorts {
  threads: ReachableThreads;
  modes: Modes;
  shape: StateShape;
  /** The rules of the configuration. */
  rules: readonly Rule[];
  ids: Ids;
  now(): number;
  /** Settles when the store is open. */
  ready(): Promise<void>;
  left(): void;
}

/**
 * One seat at a thread, for a person or a program. Commands are accepted in the order of the calls, awaited or not, for the thread that
 * was current at the call; each settles when it is durable.
 */
export class Session<Values = StateValues> {
  readonly resourceId: string;
  /** The person whom this session acts for: the `by` of its commands. */
  readonly by: string | undefined;
  readonly #ports: SessionPorts;
  readonly #seat: Seat;
  readonly #commandId: string | undefined;
  readonly #commands: SeatCommands;

  constructor(ports: SessionPorts, { resourceId, by, seat = new Seat(ports), commandId }: SeatOwner) {
    this.#ports = ports;
    this.#seat = seat;
    this.#commandId = commandId;
    this.#commands = new SeatCommands(seat, { by, commandId, select: () => this.#select() });
    this.resourceId = resourceId;
    this.by = by;
  }

  /**
   * This seat, for a command that may be given again: in any process, also after a crash, the thread accepts a command with this id once, and
   * a repetition gets the answer of the first. A thread remembers ids for ten minutes. A new input or thread has the id as its own.
   */
  once(options: { commandId: string }): Session<Values> {
    const { commandId } = optionsOf("once", options);
    return new Session<Values>(this.#ports, { resourceId: this.resourceId, by: this.by, seat: this.#seat, commandId });
  }

  // Events

  /** Calls back for every event of the session's current thread. `since`: first replays the events after this one. */
  subscribe(listener: Listener, options: { since?: number } = {}): () => void {
    return this.#seat.subscribers.subscribe(listener, optionsOf("subscribe", options).since);
  }

  /** The same as an async iterable, for a reader with its own pace. Ends with the session, or when the signal is aborted. */
  events(options: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<HarnessEvent, void, undefined> {
    return this.#seat.subscribers.events(optionsOf("events", options));
  }

  /** Immutable, and the same object until something changes. */
  getDisplayState(): HarnessDisplayState {
    return this.#seat.display;
  }

  getTokenUsage(): Usage {
    return this.getDisplayState().tokenUsage;
  }

  getCurrentThreadId(): string | null {
    return this.#thread?.id ?? null;
  }

  /** For the harness: delivers an event that is not about a thread. */
  push(event: NewLive): void {
    this.#seat.push(event);
  }

  // Input

  /** Settles when the turn that takes the message has ended. A turn that failed is a result too: `reason: "error"`. */
  async sendMessage(input: Input): Promise<TurnResult> {
    // The turn is not awaited in the queue of commands, so that the session accepts other commands meanwhile.
    const given = { ...optionsOf("sendMessage", input), delivery: "send" as const };
    return (await this.#commands.run(async (signed) => send(signed, await this.#prepared(given)))).turn;
  }

  /** `at` is only for the delivery "follow_up". */
  async post(options: FollowUp & { delivery: Delivery }): Promise<{ inputId: string }> {
    const input = optionsOf("post", options);
    return this.#commands.run(async (signed) => post(signed, await this.#prepared(input)));
  }

  /** Adds a message to the running turn, after the calls of its step. */
  async steer(input: Input): Promise<{ inputId: string }> {
    return this.post({ ...optionsOf("steer", input), delivery: "steer" });
  }

  /** Queues a message that begins a turn of its own: now, or at a time. */
  async followUp(input: FollowUp): Promise<{ inputId: string }> {
    return this.post({ ...optionsOf("followUp", input), delivery: "follow_up" });
  }

  listInbox(): Promise<readonly InboxItem[]> {
    return this.#commands.query(async (thread) => thread.state.inbox);
  }

  editInput(edit: { inputId: string; content: string }): Promise<void> {
    return this.#commands.given("editInput", edit, editQueued);
  }

  removeInput(input: { inputId: string }): Promise<void> {
    return this.#commands.given("removeInput", input, removeQueued);
  }

  /** Ends the turn. Queued inputs wait for the next input or for `resume()`; with `inbox` they are dropped. */
  async abort(options: { inbox?: boolean } = {}): Promise<void> {
    await abortEnded(await this.#commands.given("abort", options, abort, async (thread) => thread));
  }

  /** Continues a parked turn, or takes the inputs that an abort held back. Otherwise does nothing. */
  resume(): Promise<void> {
    return this.#commands.query(resume);
  }

  /** Continues after a turn that ended with an error, a limit or an abort, without a new message. Settles when the new turn has ended. */
  async retry(): Promise<TurnResult> {
    return (await this.#commands.give(retry, { again: retriedBefore })).turn;
  }

  /** Settles when nothing more happens in the current thread without a person. */
  async settled(options: { signal?: AbortSignal } = {}): Promise<Settled> {
    const { signal } = optionsOf("settled", options);
    return (await this.#commands.query(async (thread) => ({ rest: settled(thread, signal) }))).rest;
  }

  /**
   * What became of an input: settles as `sendMessage` does, also after a restart and in another process. When `signal` is aborted, it
   * rejects with the reason, and the turn continues.
   */
  async resultOf(input: { inputId: string; signal?: AbortSignal }): Promise<TurnResult> {
    const asked = optionsOf("resultOf", input);
    return (await this.#commands.query((thread) => resultOfInput(thread, asked))).turn;
  }

  /** Where the tokens of the next prompt go, and what it leaves out. */
  explainContext(): Promise<ContextExplanation> {
    return this.#commands.query(explainContext);
  }

  /** Lets the memory shorten the prompt now. Settles when that is done. `instructions`: what the summary must not lose. */
  async compact(options: { instructions?: string } = {}): Promise<Compacted> {
    return (await this.#commands.given("compact", options, requestCompaction, compactedBefore)).compacted;
  }

  /** Answers a suspended call. */
  async respondToToolSuspension(options: SuspensionAnswer): Promise<void> {
    const answer = optionsOf("respondToToolSuspension", options);
    return this.#answer("suspended", answer, (find) => (signed) => answerSuspension(signed, answer, find));
  }

  /** Answers a call that waits for an approval. */
  async respondToToolApproval(options: ApprovalAnswer): Promise<void> {
    const answer = optionsOf("respondToToolApproval", options);
    return this.#answer("asking", answer, (find) => (signed) => answerApproval(signed, answer, find));
  }

  #answer(waiting: WaitingState, answer: AnswerAddress, give: (find: FindCall) => Action<void>): Promise<void> {
    const { answerTargets, queue } = this.#seat;
    // The call is looked for before the command has its turn.
    const visit = async <T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T> => {
      await queue.admit();
      return this.#ports.threads.visit(threadId, work);
    };
    return this.#commands.answer(answerTargets.bind({ thread: this.#thread, visit }, waiting, answer), give);
  }

  // Modes, permissions, state

  async listModes(): Promise<readonly HarnessMode[]> {
    return this.#ports.modes.all;
  }

  /** Takes effect with the next step. The conversation stays, and a running turn continues. */
  switchMode(mode: { modeId: string }): Promise<void> {
    return this.#commands.given("switchMode", mode, switchMode);
  }

  getCurrentModeId(): string {
    return this.#control.modeId ?? this.#ports.modes.default.id;
  }

  switchModel(model: ModelSwitch): Promise<void> {
    return this.#commands.given("switchModel", model, switchModel);
  }

  getCurrentModelId(): string {
    const mode = this.#mode;
    return mode ? this.#ports.modes.modelId(this.#control, mode) : (this.getDisplayState().modelId ?? "");
  }

  setPermissionForTool(rule: { toolName: string; policy: Policy; match?: string }): Promise<void> {
    return this.#commands.given("setPermissionForTool", rule, setRule);
  }

  setPermissionForCategory(rule: { category: ToolCategory; policy: Policy }): Promise<void> {
    return this.#commands.given("setPermissionForCategory", rule, setRule);
  }

  /** Has the effect of the answer `always_allow_tool`. */
  grantSessionTool(target: { toolName: string; match?: string }): Promise<void> {
    return this.#commands.given("grantSessionTool", target, addGrant);
  }

  grantSessionCategory(target: { category: ToolCategory }): Promise<void> {
    return this.#commands.given("grantSessionCategory", target, addGrant);
  }

  getSessionGrants(): Rule[] {
    return this.#control.policies.grants.map(plainRule);
  }

  /** The rules of the configuration, of the current mode's agent, and of the thread, in this order. */
  getPermissionRules(): Rule[] {
    return [...this.#ports.rules, ...(this.#mode?.agent.rules ?? []), ...this.#control.policies.rules.map(plainRule)];
  }

  getState(): WholeState<Values> {
    return this.#ports.shape.whole(trieRecord(this.#control.values), this.#control.policies) as WholeState<Values>;
  }

  /** Changes the given keys and no others. */
  async setState(updates: StateUpdates<Values>): Promise<void> {
    const given = this.#ports.shape.given(updates);
    return this.#commands.give((signed) => setState(signed, this.#ports.shape, given));
  }

  /** `undefined`: the configuration no longer has it. */
  get #mode(): HarnessMode | undefined {
    return this.#ports.modes.all.find(({ id }) => id === this.getCurrentModeId());
  }

  get #thread(): Thread | null {
    return this.#seat.thread;
  }

  get #control(): Control {
    return this.#thread?.state.control ?? newControl;
  }

  // Threads

  async createThread(options: CreateOptions = {}): Promise<ThreadRecord> {
    const given = optionsOf("createThread", options);
    return this.#seat.queue.run(() => this.#create(given));
  }

  /** The newest thread of the resource that is not a subagent's, or a new one. */
  selectOrCreateThread(): Promise<ThreadRecord> {
    return this.#seat.queue.run(() => this.#select());
  }

  async switchThread(thread: { threadId: string }): Promise<ThreadRecord> {
    const { threadId } = optionsOf("switchThread", thread);
    return this.#seat.queue.run(() => this.#seat.enter(threadId));
  }

  renameThread(options: { title: string }): Promise<void> {
    return this.#commands.given("renameThread", options, rename);
  }

  async deleteThread(thread: { threadId: string }): Promise<void> {
    const { threadId } = optionsOf("deleteThread", thread);
    return this.#seat.queue.run(async () => {
      await this.#ports.threads.delete(threadId);
      if (this.#thread?.id === threadId) await this.#thread.refresh();
    });
  }

  /** Creates a thread that begins as this one was at `atSeq`, and makes it the current thread. */
  async cloneThread(options: CloneOptions = {}): Promise<ThreadRecord> {
    const { sourceThreadId = this.#thread?.id, ...cut } = { id: this.#commandId, ...optionsOf("cloneThread", options) };
    const { threads } = this.#ports;
    return this.#seat.queue.run(async () => {
      const existing = cut.id === undefined ? undefined : await threads.find(cut.id);
      const cloneAndEnter = async (source: SignedThread) => {
        const { id, folds } = await cloneThread(source, threads, cut);
        return this.#seat.enter(id, folds);
      };
      if (existing?.resourceId !== this.resourceId) return this.#commands.at(sourceThreadId, cloneAndEnter);
      await this.#seat.enter(existing.id);
      return existing;
    });
  }

  /** Newest first. Threads of subagents are listed only with `parentId`. */
  async listThreads(query: Omit<ThreadQuery, "active" | "topLevel"> = {}): Promise<ThreadRecord[]> {
    const { resourceId = this.resourceId, limit = 50, ...rest } = optionsOf("listThreads", query);
    const topLevel = rest.parentId === undefined;
    return this.#seat.queue.run(() => this.#ports.threads.list({ ...rest, limit, resourceId, topLevel }));
  }

  /** Reverts conversation, files, or both to `toSeq`. Events up to `toSeq` stay in force. The journal keeps the others. */
  rewind(options: RewindOptions): Promise<RewindResult> {
    return this.#commands.given("rewind", options, rewindThread, rewoundBefore);
  }

  /** The changes of the thread to files after the event `since`; default: all. */
  diff(options: { since?: number } = {}): Promise<FileDiff[]> {
    return this.#commands.asked("diff", options, (thread, { since = 0 }) => diffSince(thread, since));
  }

  /** The newest messages before the event `before`, oldest first; default: the newest of all. */
  listMessages(page: { limit?: number; before?: number } = {}): Promise<HarnessMessage[]> {
    return this.#commands.asked("listMessages", page, messagesOf);
  }

  /** A page of the durable events after the event `after`, in order. Bounded in bytes: only an empty page is the end. */
  listEvents(page: { after?: number; limit?: number } = {}): Promise<DurableEvent[]> {
    return this.#commands.asked("listEvents", page, eventsOf);
  }

  /** The file that a file part of this thread names by its hash. `null`: no file part of it does. */
  readBlob(blob: { hash: string }): Promise<ThreadFile | null> {
    return this.#commands.asked("readBlob", blob, (thread, { hash }) => fileOf(thread, hash));
  }

  // Seat

  /** Leaves the thread. Pending calls stay pending. If this process drives the turn, the turn continues. */
  async close(): Promise<void> {
    if (this.#seat.queue.isClosed) return;
    await this.#seat.queue.close();
    this.#seat.leave();
    this.#ports.left();
  }

  /** For the harness, which closes its threads itself, without waiting for their turns. */
  abandon(): void {
    this.#seat.queue.abandon();
    this.#seat.subscribers.close();
  }

  #prepared(input: FollowUp & { delivery: Delivery }) {
    return prepareInput({ ...input, id: input.id ?? this.#commandId }, this.#ports);
  }

  async #select(): Promise<ThreadRecord> {
    const [newest] = await this.#ports.threads.list({ resourceId: this.resourceId, topLevel: true, limit: 1 });
    if (!newest) return this.#create({});
    await this.#seat.enter(newest.id);
    return newest;
  }

  async #create(options: CheckedOptions<"createThread">): Promise<ThreadRecord> {
    const current = this.#thread;
    await current?.refresh();
    const shown = { modeId: this.getCurrentModeId(), modelId: this.getCurrentModelId() };
    const { resourceId, by } = this;
    const id = await createThread(this.#ports, { id: this.#commandId, ...options, resourceId, by, ...shown, current });
    return this.#seat.enter(id);
  }
}
