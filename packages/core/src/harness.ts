import { catalogOf } from "./config/agent.ts";
import { AgentModes } from "./config/agent-modes.ts";
import type { Budget } from "./config/budget.ts";
import { checkedConfig } from "./config/check.ts";
import { checkAgent, knownAgents } from "./config/check-agent.ts";
import { HarnessOptions, workerLimits, modesOf, type HarnessConfig } from "./config/harness-config.ts";
import { closedError, reasonOf } from "./errors.ts";
import { Heartbeats, type Heartbeat } from "./config/heartbeats.ts";
import { memoryStore } from "./ports/memory-store.ts";
import { modeOf, Modes } from "./config/modes.ts";
import { optionsOf } from "./commands/options.ts";
import { pendingCalls, type ThreadApproval, type ThreadSuspension } from "./queries/pending.ts";
import type { Rule } from "./permissions/rule.ts";
import { costOf, defaultPrices } from "./config/prices.ts";
import type { Usage } from "./events/message.ts";
import { randomIds, type Ids } from "./ports/ids.ts";
import { systemClock, withTimeout, type Clock } from "./ports/clock.ts";
import { ReachableThreads } from "./thread/reachable-threads.ts";
import { ThreadRegistry } from "./thread/thread-registry.ts";
import { Session } from "./session.ts";
import { StateShape, type StateValues } from "./config/state-shape.ts";
import type { Store, ThreadListChange } from "./ports/store.ts";
import type { NewLive } from "./events/live-events.ts";
import { printAtExit } from "./thread/unanswered.ts";
import { onThreadDeleted, type Workspace } from "./ports/workspace.ts";
import type { DriveOutcome } from "./ports/placement.ts";
import { ClusterLease } from "./workers/cluster-lease.ts";
import { RecordedHeads } from "./turn/recorded-heads.ts";
import { Counters } from "./workers/counters.ts";
import { harnessMetrics, type HarnessMetrics } from "./workers/harness-metrics.ts";
import { Recovery } from "./workers/recovery.ts";
import { ProcessRole } from "./workers/process-role.ts";

/** How long `close` waits for steps and calls that run. */
const DRAIN_MS = 1_000;
/** How long `close` waits for an `init` that is under way. A store waits for up to 10 s for a server that is away. */
const OPEN_MS = 15_000;
/** How long `drain` waits. */
const LONG_DRAIN_MS = 25_000;

/** What `createSession` takes. */
export interface SessionOptions {
  /** The thread that the session enters. */
  threadId?: string;
  /** Whose threads the session creates and lists; default: that of the harness. */
  resourceId?: string;
  /** The session reaches threads of its resource only. Others do not exist for it. */
  confined?: boolean;
  /** The person whom the session acts for. Every event of its commands says so. */
  by?: string;
}

/** The host: configuration, agents and a store. It holds no conversation: its methods for a thread are those of a default session. */
export class Harness<Values = StateValues> {
  readonly id: string;
  readonly #store: Store;
  readonly #registry: ThreadRegistry;
  readonly #session: Session<Values>;
  readonly #sessions = new Set<Session<Values>>();
  readonly #heartbeats: Heartbeats;
  readonly #modes: Modes;
  readonly #agentModes: AgentModes;
  readonly #shape: StateShape;
  readonly #workspace: Workspace | undefined;
  readonly #rules: readonly Rule[];
  #budget: Budget | undefined;
  readonly #config: { clock: Clock; ids: Ids; resourceId: string };
  /** Without a placement there are no roles: each process drives the threads that it has open. */
  readonly #role: ProcessRole | undefined;
  readonly #recovery: Recovery | undefined;
  readonly #counters = new Counters();
  #ready: Promise<void> | undefined;
  /** The steps of `init` that are left. A call after a failure begins with the one that failed: a store can't be opened twice. */
  readonly #unopened: (() => unknown)[] = [
    () => this.#store.open(),
    () => this.#role?.open(),
    () => this.#registry.openLive(),
    () => this.#openWorkspace(),
    () => this.#recovery?.start(),
    () => this.#role?.start(this.#registry),
    () => this.#opened(),
  ];
  #cancelPrintAtExit: (() => void) | undefined;
  readonly #closing = new AbortController();

  constructor(config: HarnessConfig<Values>) {
    const valid = checkedConfig(HarnessOptions, config, "Harness");
    this.id = valid.id;
    this.#shape = new StateShape(valid.stateSchema, valid.initialState, valid.memory);
    this.#rules = valid.permissions ?? [];
    this.#budget = valid.budget;
    const { clock = systemClock } = valid;
    const modes = modesOf(valid).map(modeOf);
    const subagents = valid.subagents === undefined ? undefined : catalogOf(valid.subagents, "Harness");
    const agents = modes.flatMap(({ agent }) => [agent, ...knownAgents(agent.subagents)]);
    for (const agent of [...agents, ...knownAgents(subagents)]) checkAgent(agent, valid.workspace);
    this.#modes = new Modes(modes, valid.defaultModeId, {
      tools: [valid.tools ?? {}, valid.workspace?.tools ?? {}],
      addedTools: [valid.memory?.tools ?? {}, ...(valid.context ?? []).map(({ tools }) => tools ?? {})],
      permissions: this.#rules,
      interruptOn: valid.interruptOn ?? {},
      toolCategory: valid.toolCategory,
      yolo: this.#shape.yolo,
      onAsk: valid.onAsk ?? "wait",
      budget: () => this.#budget,
      contextWindow: valid.contextWindow,
      resolveModel: valid.resolveModel,
      workspaceTools: valid.workspace?.tools ?? {},
      subagents,
      clock,
      checkAgent: (agent) => checkAgent(agent, valid.workspace),
      closing: this.#closing.signal,
    });
    this.#modes.checkSubagents();
    this.#agentModes = new AgentModes(this.#modes);
    const prices = { ...defaultPrices, ...valid.prices };
    const { ids = randomIds, recover = "opened", resourceId = "default", onRecover = "resume" } = valid;
    this.#config = { clock, ids, resourceId };
    const store = (this.#store = valid.storage ?? memoryStore());
    this.#workspace = valid.workspace;
    const { workspace, memory, live, placement, context: sources = [] } = valid;
    const ports = { store, clock, ids, modes: this.#modes, shape: this.#shape, workspace, memory, sources, live };
    const report = (message: string) => this.#inform(message);
    const limits = workerLimits(valid);
    const counters = this.#counters;
    this.#role = placement && new ProcessRole({ placement, store, clock, counters, onRecover, report }, limits);
    const cost = (usage: Usage, modelId: string) => costOf(usage, modelId, prices);
    this.#registry = new ThreadRegistry(
      { ...ports, wakes: this.#role?.wakes, counters, heads: new RecordedHeads(store), costOf: cost },
      this.#agentModes,
      onRecover,
    );
    // Workers look for threads without a driver all the time.
    if (recover === "all" && !placement) this.#recovery = new Recovery({ store, clock, threads: this.#registry });
    this.#session = this.#newSession({});
    const leaseOf = (id: string) => new ClusterLease({ store, clock }, `heartbeat:${valid.id}:${id}`);
    this.#heartbeats = new Heartbeats({ clock, leaseOf, report }, valid.heartbeats);
  }

  /** Opens the store. With `recover: "all"`, continues the interrupted turns of all threads, from now on. */
  async init(): Promise<void> {
    if (this.#closing.signal.aborted) throw closedError();
    this.#ready ??= this.#init().catch((error: unknown) => {
      // The cause may be temporary: the next call tries again.
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #init(): Promise<void> {
    for (let step = this.#unopened[0]; step && !this.#closing.signal.aborted; step = this.#unopened[0]) {
      await step();
      this.#unopened.shift();
    }
  }

  #opened(): void {
    this.#heartbeats.start();
    this.#cancelPrintAtExit = printAtExit(() => this.#registry.unanswered());
    this.#agentModes.warnOfUnknownTools(this.#modes);
  }

  /** If the workspace can't be opened, all sessions get an event, and `init` fails: agents would have no files. */
  async #openWorkspace(): Promise<void> {
    if (!this.#workspace) return;
    const announce = (event: NewLive<"workspace_status_changed" | "workspace_ready" | "workspace_error">) => {
      for (const session of this.#sessions) session.push(event);
    };
    announce({ type: "workspace_status_changed", status: "opening" });
    try {
      const status = await this.#workspace.open({
        shared: (resourceId) => this.#registry.shared(resourceId),
        storeFiles: this.#store.files ?? [],
        onThreadDeleted: (threadId, deleted) => onThreadDeleted(this.#store, threadId, deleted),
      });
      announce({ type: "workspace_ready", ...status });
      announce({ type: "workspace_status_changed", status: "ready" });
    } catch (error) {
      announce({ type: "workspace_status_changed", status: "failed" });
      announce({ type: "workspace_error", message: reasonOf(error) });
      throw error;
    }
  }

  /** Starts the heartbeat. Replaces the one with the same id, and settles when that one has ended. */
  async registerHeartbeat(heartbeat: Heartbeat): Promise<void> {
    await this.#heartbeats.register(heartbeat);
    await this.init();
  }

  /** Replaces `budget`, from the next step of each thread that this process drives. Other processes have their own. */
  setBudget(budget: Budget): void {
    this.#budget = optionsOf("setBudget", budget);
  }

  /** Settles when the heartbeat has ended. An unknown id is ignored. */
  async removeHeartbeat(heartbeat: { id: string }): Promise<void> {
    return this.#heartbeats.remove(optionsOf("removeHeartbeat", heartbeat));
  }

  #inform(message: string): void {
    for (const session of this.#sessions) session.push({ type: "info", message });
  }

  /** Opens another session, for another person or program. */
  async createSession(options: SessionOptions = {}): Promise<Session<Values>> {
    const { threadId, ...seat } = optionsOf("createSession", options);
    await this.init();
    const session = this.#newSession(seat);
    try {
      if (threadId !== undefined) await session.switchThread({ threadId });
    } catch (error) {
      this.#sessions.delete(session);
      throw error;
    }
    return session;
  }

  #newSession(options: Omit<SessionOptions, "threadId">): Session<Values> {
    const { ids, clock } = this.#config;
    const { resourceId = this.#config.resourceId, confined = false, by } = options;
    const session = new Session<Values>(
      {
        threads: new ReachableThreads(this.#store, this.#registry, confined ? resourceId : null),
        modes: this.#modes,
        shape: this.#shape,
        rules: this.#rules,
        ids,
        now: () => clock.now(),
        ready: () => this.init(),
        left: () => void this.#sessions.delete(session),
      },
      { resourceId, by },
    );
    this.#sessions.add(session);
    return session;
  }

  /**
   * Drives the thread until it rests, if it needs a driver: for a placement of your own. `busy`: this process has no room for it, or is a
   * front. `handed_over`: the process is leaving, and another one has to continue.
   */
  async drive(options: { threadId: string }): Promise<DriveOutcome> {
    const { threadId } = optionsOf("drive", options);
    await this.init();
    return this.#role ? this.#role.drive(threadId) : this.#registry.drive(threadId);
  }

  /**
   * The first half of `close`: begins no step and no call any more, waits up to `drainMs` (default: 25 s) for those that run, and releases
   * their leases, so that other processes continue the turns. Sessions stay open.
   */
  async drain(options: { drainMs?: number } = {}): Promise<void> {
    const { drainMs = LONG_DRAIN_MS } = optionsOf("drain", options);
    const drained = Promise.all([this.#role?.drain(), this.#recovery?.close()]);
    await this.#registry.drain(drainMs);
    await drained;
  }

  /**
   * Begins no step and no call any more, waits up to `drainMs` (default: a second) for those that run, then stops them, and releases the
   * leases. Pending calls stay pending.
   */
  async close(options: { drainMs?: number } = {}): Promise<void> {
    const { drainMs = DRAIN_MS } = optionsOf("close", options);
    this.#cancelPrintAtExit?.();
    this.#closing.abort();
    // Leases don't wait for heartbeats to end; the store does.
    const heartbeats = this.#heartbeats.close();
    for (const session of this.#sessions) session.abandon();
    // What is opened after the end of this call would never be closed.
    if (this.#ready) await withTimeout(this.#config.clock, Promise.allSettled([this.#ready]), { ms: OPEN_MS });
    const drained = Promise.all([this.#role?.drain(), this.#recovery?.close()]);
    await this.#registry.close({ drainMs });
    await drained;
    await this.#role?.close();
    await heartbeats;
    await this.#workspace?.close();
    await this.#store.close();
  }

  /** The calls that wait for a person, of all threads or of those of a resource, oldest first. Opens no thread. */
  async pending(options: { resourceId?: string } = {}): Promise<(ThreadApproval | ThreadSuspension)[]> {
    const query = optionsOf("pending", options);
    await this.init();
    return pendingCalls({ store: this.#store, clock: this.#config.clock }, query);
  }

  /** How many threads this process has open, and how many turns it drives. */
  load(): { threads: number; turns: number } {
    return this.#registry.load;
  }

  /** What this process, and the store that it shares with others, have to do. */
  async metrics(): Promise<HarnessMetrics> {
    await this.init();
    return harnessMetrics({ store: this.#store, counters: this.#counters, threads: this.#registry });
  }

  /** The changes of the list of threads of a resource, from now on, by any process; default: the resource of the harness. */
  async followThreads(options: { resourceId?: string } = {}): Promise<AsyncIterableIterator<ThreadListChange>> {
    const { resourceId = this.#config.resourceId } = optionsOf("followThreads", options);
    await this.init();
    return this.#store.followThreads(resourceId);
  }

  /** The calls that wait for an approval, of all threads, oldest first. */
  async pendingApprovals(): Promise<ThreadApproval[]> {
    return (await this.pending()).filter((call) => call.kind === "approval");
  }

  readonly subscribe: Session["subscribe"] = (...args) => this.#session.subscribe(...args);
  readonly events: Session["events"] = (...args) => this.#session.events(...args);
  readonly getDisplayState: Session["getDisplayState"] = () => this.#session.getDisplayState();
  readonly getTokenUsage: Session["getTokenUsage"] = () => this.#session.getTokenUsage();
  readonly getCurrentThreadId: Session["getCurrentThreadId"] = () => this.#session.getCurrentThreadId();
  readonly sendMessage: Session["sendMessage"] = (input) => this.#session.sendMessage(input);
  readonly post: Session["post"] = (input) => this.#session.post(input);
  readonly steer: Session["steer"] = (input) => this.#session.steer(input);
  readonly followUp: Session["followUp"] = (input) => this.#session.followUp(input);
  readonly listInbox: Session["listInbox"] = () => this.#session.listInbox();
  readonly editInput: Session["editInput"] = (edit) => this.#session.editInput(edit);
  readonly removeInput: Session["removeInput"] = (input) => this.#session.removeInput(input);
  readonly abort: Session["abort"] = (options) => this.#session.abort(options);
  readonly resume: Session["resume"] = () => this.#session.resume();
  readonly retry: Session["retry"] = () => this.#session.retry();
  readonly settled: Session["settled"] = (options) => this.#session.settled(options);
  readonly explainContext: Session["explainContext"] = () => this.#session.explainContext();
  readonly compact: Session["compact"] = (options) => this.#session.compact(options);
  readonly respondToToolSuspension: Session["respondToToolSuspension"] = (answer) =>
    this.#session.respondToToolSuspension(answer);
  readonly respondToToolApproval: Session["respondToToolApproval"] = (answer) =>
    this.#session.respondToToolApproval(answer);
  readonly listModes: Session["listModes"] = () => this.#session.listModes();
  readonly switchMode: Session["switchMode"] = (mode) => this.#session.switchMode(mode);
  readonly getCurrentModeId: Session["getCurrentModeId"] = () => this.#session.getCurrentModeId();
  readonly switchModel: Session["switchModel"] = (model) => this.#session.switchModel(model);
  readonly getCurrentModelId: Session["getCurrentModelId"] = () => this.#session.getCurrentModelId();
  readonly setPermissionForTool: Session["setPermissionForTool"] = (rule) => this.#session.setPermissionForTool(rule);
  readonly setPermissionForCategory: Session["setPermissionForCategory"] = (rule) =>
    this.#session.setPermissionForCategory(rule);
  readonly grantSessionTool: Session["grantSessionTool"] = (grant) => this.#session.grantSessionTool(grant);
  readonly grantSessionCategory: Session["grantSessionCategory"] = (grant) => this.#session.grantSessionCategory(grant);
  readonly getSessionGrants: Session["getSessionGrants"] = () => this.#session.getSessionGrants();
  readonly getPermissionRules: Session["getPermissionRules"] = () => this.#session.getPermissionRules();
  readonly getState: Session<Values>["getState"] = () => this.#session.getState();
  readonly setState: Session<Values>["setState"] = (updates) => this.#session.setState(updates);
  readonly createThread: Session["createThread"] = (options) => this.#session.createThread(options);
  readonly selectOrCreateThread: Session["selectOrCreateThread"] = () => this.#session.selectOrCreateThread();
  readonly switchThread: Session["switchThread"] = (thread) => this.#session.switchThread(thread);
  readonly renameThread: Session["renameThread"] = (options) => this.#session.renameThread(options);
  readonly deleteThread: Session["deleteThread"] = (thread) => this.#session.deleteThread(thread);
  readonly cloneThread: Session["cloneThread"] = (options) => this.#session.cloneThread(options);
  readonly listThreads: Session["listThreads"] = (query) => this.#session.listThreads(query);
  readonly rewind: Session["rewind"] = (options) => this.#session.rewind(options);
  readonly diff: Session["diff"] = (options) => this.#session.diff(options);
  readonly resultOf: Session["resultOf"] = (input) => this.#session.resultOf(input);
  readonly listEvents: Session["listEvents"] = (page) => this.#session.listEvents(page);
  readonly readBlob: Session["readBlob"] = (blob) => this.#session.readBlob(blob);
  readonly listMessages: Session["listMessages"] = (page) => this.#session.listMessages(page);
}
