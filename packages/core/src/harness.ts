import * as z from "zod/mini";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { catalogOf, SubagentsValue, ToolValues, type Agent, type Subagents } from "./config/agent.ts";
import { AgentModes } from "./config/agent-modes.ts";
import { Budget } from "./config/budget.ts";
import { checkedConfig } from "./config/check.ts";
import { checkAgent, knownAgents } from "./config/check-agent.ts";
import { CinchError, closedError, reasonOf } from "./errors.ts";
import { HeartbeatList, Heartbeats, type Heartbeat } from "./config/heartbeats.ts";
import { memoryStore } from "./ports/memory-store.ts";
import { AgentValue, ModeConfig, modeOf, Modes } from "./config/modes.ts";
import type { ResolveModel } from "./config/models.ts";
import { optionsOf } from "./commands/options.ts";
import { pendingCalls, type ThreadApproval, type ThreadSuspension } from "./queries/pending.ts";
import { InterruptOn } from "./permissions/gate.ts";
import { ContextWindow } from "./config/windows.ts";
import { Rule, ToolCategory } from "./permissions/rule.ts";
import { costOf, defaultPrices, Prices, type PriceTable } from "./config/prices.ts";
import type { Usage } from "./events/message.ts";
import { randomIds, type Ids } from "./ports/ids.ts";
import { systemClock, type Clock } from "./ports/clock.ts";
import {
  ClockValue,
  ContextSources,
  LiveValue,
  MemoryValue,
  StoreValue,
  WorkspaceValue,
} from "./config/port-values.ts";
import { ReachableThreads } from "./thread/reachable-threads.ts";
import { ThreadRegistry } from "./thread/thread-registry.ts";
import { Session } from "./session.ts";
import { isStandard } from "./tools/schema.ts";
import { StateShape, type StateUpdates, type StateValues } from "./config/state-shape.ts";
import type { ContextSource } from "./ports/context-source.ts";
import type { Live } from "./ports/live.ts";
import type { Memory } from "./ports/memory.ts";
import type { Store, ThreadListChange } from "./ports/store.ts";
import type { NewLive } from "./events/live-events.ts";
import type { ToolSet } from "./tools/tool.ts";
import { printAtExit } from "./thread/unanswered.ts";
import { onThreadDeleted, type Workspace } from "./ports/workspace.ts";

/** How long `close` waits for steps and calls that run. */
const DRAIN_MS = 1_000;

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
  /** Whether `init` also continues interrupted turns in threads that are not open. */
  recover?: "opened" | "all";
  /** Work that is repeated at an interval, from `init` until `close`. */
  heartbeats?: Heartbeat[];
  /** Shows what other processes drive as it happens: `peerLive()` of `@cinch/postgres`. Default: by drafts, twice a second. */
  live?: Live;
  clock?: Clock;
  ids?: Ids;
}

const fn = <T>() => z.custom<T>((value) => typeof value === "function", "must be a function");
const Config = z.strictObject({
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
  heartbeats: z.optional(HeartbeatList),
  live: z.optional(LiveValue),
  clock: z.optional(ClockValue),
  ids: z.optional(fn<Ids>()),
});

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
  readonly #config: { clock: Clock; ids: Ids; recover: "opened" | "all"; resourceId: string };
  #ready: Promise<void> | undefined;
  #cancelPrintAtExit: (() => void) | undefined;
  readonly #closing = new AbortController();

  constructor(config: HarnessConfig<Values>) {
    const valid = checkedConfig(Config, config, "Harness");
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
    this.#agentModes = new AgentModes(this.#modes);
    const prices = { ...defaultPrices, ...valid.prices };
    const { ids = randomIds, recover = "opened", resourceId = "default", onRecover = "resume" } = valid;
    this.#config = { clock, ids, recover, resourceId };
    const store = (this.#store = valid.storage ?? memoryStore());
    this.#workspace = valid.workspace;
    const { workspace, memory, live, context: sources = [] } = valid;
    const ports = { store, clock, ids, modes: this.#modes, shape: this.#shape, workspace, memory, sources, live };
    const cost = (usage: Usage, modelId: string) => costOf(usage, modelId, prices);
    this.#registry = new ThreadRegistry({ ...ports, costOf: cost }, this.#agentModes, onRecover);
    this.#session = this.#newSession({});
    this.#heartbeats = new Heartbeats({ clock, report: (message) => this.#inform(message) }, valid.heartbeats);
  }

  /** Opens the store. With `recover: "all"`, continues the interrupted turns of all threads. */
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
    await this.#store.open();
    await this.#registry.openLive();
    await this.#openWorkspace();
    if (this.#config.recover === "all") await this.#recoverAll();
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

  async #recoverAll(): Promise<void> {
    const active = await this.#store.threads({ active: true });
    // A thread that can't be opened must not affect the others. A session that opens it gets the error.
    await Promise.allSettled(active.map(({ id }) => this.#registry.visit(id, async () => undefined)));
  }

  /** Starts the heartbeat, at once or with `init`. Replaces the one with the same id, and settles when that one has ended. */
  registerHeartbeat(heartbeat: Heartbeat): Promise<void> {
    return this.#heartbeats.register(heartbeat);
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
    await this.#registry.close({ drainMs });
    await heartbeats;
    await this.#workspace?.close();
    await this.#store.close();
  }

  /** The calls that wait for a person, of all threads or of those of a resource, oldest first. Opens no thread. */
  async pending(options: { resourceId?: string } = {}): Promise<(ThreadApproval | ThreadSuspension)[]> {
    const query = optionsOf("pending", options);
    await this.init();
    return pendingCalls(this.#store, query);
  }

  /** How many threads this process has open, and how many turns it drives. */
  load(): { threads: number; turns: number } {
    return this.#registry.load;
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
  readonly settled: Session["settled"] = () => this.#session.settled();
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

function modesOf({ agent, modes }: z.infer<typeof Config>): ModeConfig[] {
  if ((agent === undefined) === (modes === undefined)) {
    throw new CinchError("INVALID_CONFIG", "Harness: give it either an agent or modes.");
  }
  return modes ?? [{ id: "default", agent: agent! }];
}
