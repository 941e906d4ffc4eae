import { answerApproval, answerSuspension, type ApprovalAnswer, type SuspensionAnswer } from "./commands/answers.ts";
import { AnswerTargets } from "./commands/answer-target.ts";
import { Subscribers } from "./thread/subscribers.ts";
import { controlInForce } from "./commands/control-in-force.ts";
import { cloneThread, type CloneOptions } from "./commands/clone.ts";
import { requestCompaction, type Compacted } from "./commands/compact.ts";
import { explainContext, type ContextExplanation } from "./queries/explain-context.ts";
import { createThread } from "./commands/create-thread.ts";
import { addGrant, rename, setRule, setState, switchMode, switchModel } from "./commands/thread-settings.ts";
import type { ModelSwitch } from "./commands/thread-settings.ts";
import { closedError } from "./errors.ts";
import type { Delivery, HarnessEvent } from "./events/event-map.ts";
import type { FileDiff } from "./events/files.ts";
import { newControl, type Control } from "./folds/control.ts";
import type { Folds } from "./folds/folds.ts";
import { trieRecord } from "./folds/trie.ts";
import { newDisplayState } from "./folds/display.ts";
import type { HarnessDisplayState, HarnessMessage } from "./folds/display-state.ts";
import type { NewLive } from "./events/live-events.ts";
import type { InboxItem } from "./folds/inbox.ts";
import { messagesOf } from "./queries/history.ts";
import { abort, abortEnded } from "./commands/abort.ts";
import { prepareInput, editQueued, post, removeQueued, send, type Input } from "./commands/input.ts";
import { resume } from "./commands/resume.ts";
import type { Usage } from "./events/message.ts";
import type { HarnessMode, Modes } from "./config/modes.ts";
import { optionsOf } from "./commands/options.ts";
import { plainRule, type Policy, type Rule, type ToolCategory } from "./permissions/rule.ts";
import type { Ids } from "./ports/ids.ts";
import type { ThreadRegistry } from "./thread/thread-registry.ts";
import { retry } from "./commands/retry.ts";
import { diffSince, rewindThread, type RewindOptions, type RewindResult } from "./commands/rewind.ts";
import type { StateShape, StateUpdates, StateValues, WholeState } from "./config/state-shape.ts";
import type { Store, ThreadQuery, ThreadRecord } from "./ports/store.ts";
import { arriveAt } from "./thread/arrive-at.ts";
import type { Listener } from "./thread/subscriber.ts";
import { settled, type Settled } from "./queries/settled.ts";
import type { Thread } from "./thread/thread.ts";
import type { TurnResult } from "./thread/turn-results.ts";

export interface SessionPorts {
  store: Store;
  registry: ThreadRegistry;
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
  readonly #ports: SessionPorts;
  readonly #noThread: HarnessDisplayState;
  readonly #subscribers: Subscribers;
  readonly #answerTargets = new AnswerTargets();
  #thread: Thread | null = null;
  #offDeleted: (() => void) | undefined;
  #commands: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(ports: SessionPorts, resourceId: string) {
    this.#ports = ports;
    this.#noThread = { ...newDisplayState(null), yolo: ports.shape.yolo };
    this.#subscribers = new Subscribers(ports.now);
    this.resourceId = resourceId;
  }

  // Events

  /** Calls back for every event of the session's current thread. `since`: first replays the events after this one. */
  subscribe(listener: Listener, options: { since?: number } = {}): () => void {
    return this.#subscribers.subscribe(listener, optionsOf("subscribe", options).since);
  }

  /** The same as an async iterable, for a reader with its own pace. Ends with the session, or when the signal is aborted. */
  events(options: { since?: number; signal?: AbortSignal } = {}): AsyncGenerator<HarnessEvent, void, undefined> {
    return this.#subscribers.events(optionsOf("events", options));
  }

  /** Immutable, and the same object until something changes. */
  getDisplayState(): HarnessDisplayState {
    return this.#thread?.display ?? this.#noThread;
  }

  getTokenUsage(): Usage {
    return this.getDisplayState().tokenUsage;
  }

  getCurrentThreadId(): string | null {
    return this.#thread?.id ?? null;
  }

  /** For the harness: delivers an event that is not about a thread. */
  push(event: NewLive): void {
    this.#subscribers.push({ ...event, threadId: this.#thread?.id ?? "", at: this.#ports.now() } as HarnessEvent);
  }

  // Input

  /** Settles when the turn that takes the message has ended. A turn that failed is a result too: `reason: "error"`. */
  async sendMessage(input: Input): Promise<TurnResult> {
    // The turn is not awaited in the queue of commands, so that the session accepts other commands meanwhile.
    const accepted = () => prepareInput(optionsOf("sendMessage", input), "send", this.#ports.ids);
    return (await this.#command(async (thread) => send(thread, await accepted()))).turn;
  }

  async post(options: Input & { delivery: Delivery }): Promise<{ inputId: string }> {
    const { delivery, ...input } = optionsOf("post", options);
    return this.#command(async (thread) => post(thread, await prepareInput(input, delivery, this.#ports.ids)));
  }

  /** Adds a message to the running turn, after the calls of its step. */
  async steer(input: Input): Promise<{ inputId: string }> {
    return this.post({ ...optionsOf("steer", input), delivery: "steer" });
  }

  /** Queues a message that begins a turn of its own. */
  async followUp(input: Input): Promise<{ inputId: string }> {
    return this.post({ ...optionsOf("followUp", input), delivery: "follow_up" });
  }

  listInbox(): Promise<readonly InboxItem[]> {
    return this.#command(async (thread) => thread.state.inbox);
  }

  editInput(edit: { inputId: string; content: string }): Promise<void> {
    return this.#command((thread) => editQueued(thread, optionsOf("editInput", edit)));
  }

  removeInput(input: { inputId: string }): Promise<void> {
    return this.#command((thread) => removeQueued(thread, optionsOf("removeInput", input)));
  }

  /** Ends the turn. Queued inputs wait for the next input or for `resume()`; with `inbox` they are dropped. */
  async abort(options: { inbox?: boolean } = {}): Promise<void> {
    const thread = await this.#command((current) => abort(current, optionsOf("abort", options)));
    await abortEnded(thread);
  }

  /** Continues a parked turn, or takes the inputs that an abort held back. Otherwise does nothing. */
  resume(): Promise<void> {
    return this.#command(resume);
  }

  /** Continues after a turn that ended with an error, a limit or an abort, without a new message. Settles when the new turn has ended. */
  async retry(): Promise<TurnResult> {
    return (await this.#command(retry)).turn;
  }

  /** Settles when nothing more happens in the current thread without a person. */
  async settled(): Promise<Settled> {
    return (await this.#command(async (thread) => ({ rest: settled(thread) }))).rest;
  }

  /** Where the tokens of the next prompt go, and what it leaves out. */
  explainContext(): Promise<ContextExplanation> {
    return this.#command(explainContext);
  }

  /** Lets the memory shorten the prompt now. Settles when that is done. `instructions`: what the summary must not lose. */
  async compact(options: { instructions?: string } = {}): Promise<Compacted> {
    return (await this.#command((thread) => requestCompaction(thread, optionsOf("compact", options)))).compacted;
  }

  /** Answers a suspended call. */
  async respondToToolSuspension(options: SuspensionAnswer): Promise<void> {
    const answer = optionsOf("respondToToolSuspension", options);
    if (this.#thread?.children.isOpening) await this.#thread.children.opened();
    const bound = this.#answerTargets.bind(this.#thread, "suspended", answer);
    return bound.until(this.#command((thread) => answerSuspension(thread, answer, bound.find), bound.threadId));
  }

  /** Answers a call that waits for an approval. */
  async respondToToolApproval(options: ApprovalAnswer): Promise<void> {
    const answer = optionsOf("respondToToolApproval", options);
    if (this.#thread?.children.isOpening) await this.#thread.children.opened();
    const bound = this.#answerTargets.bind(this.#thread, "asking", answer);
    return bound.until(this.#command((thread) => answerApproval(thread, answer, bound.find), bound.threadId));
  }

  // Modes, permissions, state

  async listModes(): Promise<readonly HarnessMode[]> {
    return this.#ports.modes.all;
  }

  /** Takes effect with the next step. The conversation stays, and a running turn continues. */
  switchMode(mode: { modeId: string }): Promise<void> {
    return this.#command((thread) => switchMode(thread, optionsOf("switchMode", mode).modeId));
  }

  getCurrentModeId(): string {
    return this.#control.modeId ?? this.#ports.modes.default.id;
  }

  switchModel(model: ModelSwitch): Promise<void> {
    return this.#command((thread) => switchModel(thread, optionsOf("switchModel", model)));
  }

  getCurrentModelId(): string {
    const mode = this.#mode;
    return mode ? this.#ports.modes.modelId(this.#control, mode) : (this.getDisplayState().modelId ?? "");
  }

  setPermissionForTool(rule: { toolName: string; policy: Policy; match?: string }): Promise<void> {
    return this.#command((thread) => setRule(thread, optionsOf("setPermissionForTool", rule)));
  }

  setPermissionForCategory(rule: { category: ToolCategory; policy: Policy }): Promise<void> {
    return this.#command((thread) => setRule(thread, optionsOf("setPermissionForCategory", rule)));
  }

  /** Has the effect of the answer `always_allow_tool`. */
  grantSessionTool(target: { toolName: string; match?: string }): Promise<void> {
    return this.#command((thread) => addGrant(thread, optionsOf("grantSessionTool", target)));
  }

  grantSessionCategory(target: { category: ToolCategory }): Promise<void> {
    return this.#command((thread) => addGrant(thread, optionsOf("grantSessionCategory", target)));
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
  setState(updates: StateUpdates<Values>): Promise<void> {
    return this.#command((thread) => setState(thread, this.#ports.shape, updates));
  }

  /** `undefined`: the configuration no longer has it. */
  get #mode(): HarnessMode | undefined {
    return this.#ports.modes.all.find(({ id }) => id === this.getCurrentModeId());
  }

  get #control(): Control {
    return this.#thread?.state.control ?? newControl;
  }

  // Threads

  createThread(options: { title?: string } = {}): Promise<ThreadRecord> {
    return this.#ordered(async () => this.#create(optionsOf("createThread", options).title ?? ""));
  }

  /** The newest thread of the resource that is not a subagent's, or a new one. */
  selectOrCreateThread(): Promise<ThreadRecord> {
    return this.#ordered(() => this.#select());
  }

  switchThread(thread: { threadId: string }): Promise<ThreadRecord> {
    return this.#ordered(async () => {
      const { threadId } = optionsOf("switchThread", thread);
      await this.#enter(threadId);
      return this.#record(threadId);
    });
  }

  renameThread(options: { title: string }): Promise<void> {
    return this.#command((thread) => rename(thread, optionsOf("renameThread", options).title));
  }

  deleteThread(thread: { threadId: string }): Promise<void> {
    return this.#ordered(async () => {
      const { threadId } = optionsOf("deleteThread", thread);
      await this.#ports.store.deleteThread(threadId);
      if (this.#thread?.id === threadId) await this.#thread.refresh();
    });
  }

  /** Creates a thread that begins as this one was at `atSeq`, and makes it the current thread. */
  async cloneThread(options: CloneOptions = {}): Promise<ThreadRecord> {
    const { sourceThreadId, ...cut } = optionsOf("cloneThread", options);
    const cloneAndEnter = async (source: Thread) => {
      const { id, folds } = await cloneThread(source, cut);
      await this.#enter(id, folds);
      return this.#record(id);
    };
    return this.#command(cloneAndEnter, sourceThreadId);
  }

  /** Newest first. Threads of subagents are listed only with `parentId`. */
  listThreads(query: Omit<ThreadQuery, "active" | "topLevel"> = {}): Promise<ThreadRecord[]> {
    const list = ({ resourceId = this.resourceId, limit = 50, ...rest }: ThreadQuery) =>
      this.#ports.store.threads({ ...rest, limit, resourceId, topLevel: rest.parentId === undefined });
    return this.#ordered(async () => list(optionsOf("listThreads", query)));
  }

  /** Reverts conversation, files, or both to `toSeq`. Events up to `toSeq` stay in force. The journal keeps the others. */
  rewind(options: RewindOptions): Promise<RewindResult> {
    return this.#command((thread) => rewindThread(thread, optionsOf("rewind", options)));
  }

  /** The changes of the thread to files after the event `since`; default: all. */
  diff(options: { since?: number } = {}): Promise<FileDiff[]> {
    return this.#command(async (thread) => diffSince(thread, optionsOf("diff", options).since ?? 0));
  }

  /** The newest messages before the event `before`, oldest first; default: the newest of all. */
  listMessages(page: { limit?: number; before?: number } = {}): Promise<HarnessMessage[]> {
    return this.#command((thread) => messagesOf(thread, optionsOf("listMessages", page)));
  }

  // Seat

  /** Leaves the thread. Pending calls stay pending. If this process drives the turn, the turn continues. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#commands;
    this.#subscribers.close();
    const thread = this.#thread;
    this.#offDeleted?.();
    this.#thread = null;
    this.#ports.left();
    // Not awaited: the thread stays open as long as this process drives it.
    if (thread) this.#ports.registry.release(thread).catch(() => undefined);
  }

  /** For the harness, which closes its threads itself, without waiting for their turns. */
  abandon(): void {
    this.#closed = true;
    this.#subscribers.close();
  }

  #command<T>(work: (thread: Thread) => Promise<T>, threadId = this.#thread?.id): Promise<T> {
    return this.#ordered(async () => {
      const id = threadId ?? this.#thread?.id ?? (await this.#select()).id;
      if (this.#thread?.id === id) return work(this.#thread);
      return this.#ports.registry.visit(id, work);
    });
  }

  #ordered<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#commands.then(async () => {
      if (this.#closed) throw closedError();
      await this.#ports.ready();
      return work();
    });
    this.#commands = result.catch(() => undefined);
    return result;
  }

  async #select(): Promise<ThreadRecord> {
    const [newest] = await this.#ports.store.threads({ resourceId: this.resourceId, topLevel: true, limit: 1 });
    if (!newest) return this.#create("");
    if (this.#thread?.id !== newest.id) await this.#enter(newest.id);
    return newest;
  }

  async #create(title: string): Promise<ThreadRecord> {
    await this.#thread?.refresh();
    const shown = { modeId: this.getCurrentModeId(), modelId: this.getCurrentModelId() };
    const { resourceId } = this;
    const control = this.#thread ? await controlInForce(this.#thread) : newControl;
    const id = await createThread(this.#ports, { title, resourceId, ...shown, control });
    await this.#enter(id);
    return this.#record(id);
  }

  async #record(threadId: string): Promise<ThreadRecord> {
    return (await this.#ports.store.thread(threadId))!;
  }

  async #enter(threadId: string, from?: Folds): Promise<void> {
    if (this.#thread?.id === threadId) return;
    const next = await this.#ports.registry.acquire(threadId, from);
    this.#sit(next);
  }

  /** Switches to another thread, and brings the subscribers up to date with it. */
  #sit(next: Thread | null): void {
    const previous = this.#thread;
    this.#offDeleted?.();
    this.#thread = next;
    this.#subscribers.attach(next);
    this.#offDeleted = next?.onDeleted(() => this.#sit(null));
    if (previous) this.#ports.registry.release(previous).catch(() => undefined);
    if (next) arriveAt(next, { previous, subscribers: this.#subscribers, at: this.#ports.now() });
  }
}
