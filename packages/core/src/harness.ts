import * as z from "zod/mini";
import { Agent } from "./agent.ts";
import { checkedConfig } from "./check.ts";
import { CinchError } from "./errors.ts";
import { HeartbeatList, Heartbeats, type Heartbeat } from "./heartbeats.ts";
import { memoryStore } from "./memory-store.ts";
import { randomIds, systemClock, type Clock, type Ids } from "./ports.ts";
import { ThreadRegistry } from "./registry.ts";
import { Session } from "./session.ts";
import type { Store } from "./store.ts";
import type { ToolSet } from "./tool.ts";
import { makeSetup, toolsOf, type HarnessMode, type ResolveModel, type Setup } from "./turn/setup.ts";

export interface HarnessConfig {
  id: string;
  /** Left out: everything is in memory, and gone with the process. */
  storage?: Store;
  /** One agent, or several under the names of modes. */
  agent?: Agent;
  modes?: { id: string; name?: string; agent: Agent; metadata?: Record<string, unknown> }[];
  defaultModeId?: string;
  tools?: ToolSet;
  /** Whose threads these are, where several people or projects share a store. */
  resourceId?: string;
  resolveModel?: ResolveModel;
  /** What happens to a turn that was cut off, when its thread is opened: it goes on, or is parked until `resume()`. */
  onRecover?: "resume" | "pause";
  /** Whether `init` also looks for cut-off turns in threads that nobody opened. */
  recover?: "opened" | "all";
  /** Work that is done again and again, from `init` until `close`. */
  heartbeats?: Heartbeat[];
  clock?: Clock;
  ids?: Ids;
}

const object = <T>(what: string) =>
  z.custom<T>((value) => typeof value === "object" && value !== null, `must be ${what}`);
const fn = <T>() => z.custom<T>((value) => typeof value === "function", "must be a function");
const AgentValue = z.custom<Agent>((value) => value instanceof Agent, "must be an Agent: new Agent({ … })");

const Mode = z.strictObject({
  id: z.string().check(z.minLength(1)),
  name: z.optional(z.string()),
  agent: AgentValue,
  metadata: z.optional(z.record(z.string(), z.unknown())),
});

const Config = z.strictObject({
  id: z.string().check(z.minLength(1)),
  storage: z.optional(object<Store>("a store")),
  agent: z.optional(AgentValue),
  modes: z.optional(z.array(Mode).check(z.minLength(1))),
  defaultModeId: z.optional(z.string()),
  tools: z.optional(z.record(z.string(), object<ToolSet[string]>("a tool"))),
  resourceId: z.optional(z.string().check(z.minLength(1))),
  resolveModel: z.optional(fn<ResolveModel>()),
  onRecover: z.optional(z.enum(["resume", "pause"])),
  recover: z.optional(z.enum(["opened", "all"])),
  heartbeats: z.optional(HeartbeatList),
  clock: z.optional(object<Clock>("a clock")),
  ids: z.optional(fn<Ids>()),
});

/** The host: configuration, agents and a store. It holds no conversation; its own talking methods are the default session's. */
export class Harness {
  readonly id: string;
  readonly #store: Store;
  readonly #registry: ThreadRegistry;
  readonly #session: Session;
  readonly #sessions = new Set<Session>();
  readonly #heartbeats: Heartbeats;
  readonly #modes: readonly HarnessMode[];
  readonly #defaultMode: HarnessMode;
  readonly #tools: ToolSet;
  readonly #resolveModel: ResolveModel | undefined;
  readonly #setups = new Map<string, Promise<Setup>>();
  readonly #config: { clock: Clock; ids: Ids; recover: "opened" | "all"; resourceId: string };
  #ready: Promise<void> | undefined;

  constructor(config: HarnessConfig) {
    const valid = checkedConfig(Config, config, "Harness");
    this.id = valid.id;
    this.#modes = modesOf(valid);
    this.#defaultMode = defaultOf(this.#modes, valid.defaultModeId);
    this.#tools = valid.tools ?? {};
    for (const { agent } of this.#modes) toolsOf(agent, this.#tools);
    this.#resolveModel = valid.resolveModel;
    const {
      clock = systemClock,
      ids = randomIds,
      recover = "opened",
      resourceId = "default",
      onRecover = "resume",
    } = valid;
    this.#config = { clock, ids, recover, resourceId };
    this.#store = valid.storage ?? memoryStore();
    const store = this.#store;
    this.#registry = new ThreadRegistry({ store, clock, ids, setup: (modeId) => this.#setup(modeId) }, onRecover);
    this.#session = this.#newSession(resourceId);
    this.#heartbeats = new Heartbeats({ clock, report: (message) => this.#inform(message) }, valid.heartbeats);
  }

  /** Opens the store. With `recover: "all"` every turn that was cut off goes on, opened or not. */
  init(): Promise<void> {
    this.#ready ??= this.#init().catch((error: unknown) => {
      // What was wrong may be mended: the next one to ask tries again.
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #init(): Promise<void> {
    await this.#store.open();
    if (this.#config.recover === "all") await this.#recoverAll();
    this.#heartbeats.start();
  }

  async #recoverAll(): Promise<void> {
    const active = await this.#store.threads({ active: true });
    // One thread that can't be opened must not keep the others from going on: whoever opens it is told what is wrong with it.
    await Promise.allSettled(active.map(({ id }) => this.#registry.visit(id, async () => undefined)));
  }

  /** Starts at once, or with `init`. One with the same id is replaced: this settles when that one has ended. */
  registerHeartbeat(heartbeat: Heartbeat): Promise<void> {
    return this.#heartbeats.register(heartbeat);
  }

  /** Settles when the heartbeat has ended. Without one of this id, nothing happens. */
  removeHeartbeat({ id }: { id: string }): Promise<void> {
    return this.#heartbeats.remove({ id });
  }

  #inform(message: string): void {
    for (const session of this.#sessions) session.inform(message);
  }

  /** Another seat, for another person or program. */
  async createSession({
    threadId,
    resourceId = this.#config.resourceId,
  }: { threadId?: string; resourceId?: string } = {}): Promise<Session> {
    await this.init();
    const session = this.#newSession(resourceId);
    try {
      if (threadId !== undefined) await session.switchThread({ threadId });
    } catch (error) {
      this.#sessions.delete(session);
      throw error;
    }
    return session;
  }

  #newSession(resourceId: string): Session {
    const { ids, clock } = this.#config;
    const session = new Session(
      {
        store: this.#store,
        registry: this.#registry,
        ids,
        now: () => clock.now(),
        ready: () => this.init(),
        left: (who) => void this.#sessions.delete(who),
      },
      resourceId,
    );
    this.#sessions.add(session);
    return session;
  }

  /** Stops driving, releases leases at once, and leaves what is pending pending. */
  async close(): Promise<void> {
    // Leases don't wait for heartbeats to end; the store does.
    const heartbeats = this.#heartbeats.close();
    for (const session of this.#sessions) session.abandon();
    await this.#registry.close();
    await heartbeats;
    await this.#store.close();
  }

  #setup(modeId: string | null): Promise<Setup> {
    const mode = this.#modes.find(({ id }) => id === modeId) ?? this.#defaultMode;
    const known = this.#setups.get(mode.id) ?? makeSetup(mode, this.#tools, this.#resolveModel);
    this.#setups.set(mode.id, known);
    known.catch(() => this.#setups.delete(mode.id));
    return known;
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
  readonly respondToToolSuspension: Session["respondToToolSuspension"] = (answer) =>
    this.#session.respondToToolSuspension(answer);
  readonly createThread: Session["createThread"] = (options) => this.#session.createThread(options);
  readonly selectOrCreateThread: Session["selectOrCreateThread"] = () => this.#session.selectOrCreateThread();
  readonly switchThread: Session["switchThread"] = (thread) => this.#session.switchThread(thread);
  readonly renameThread: Session["renameThread"] = (options) => this.#session.renameThread(options);
  readonly deleteThread: Session["deleteThread"] = (thread) => this.#session.deleteThread(thread);
  readonly cloneThread: Session["cloneThread"] = (options) => this.#session.cloneThread(options);
  readonly listThreads: Session["listThreads"] = (query) => this.#session.listThreads(query);
  readonly rewind: Session["rewind"] = (options) => this.#session.rewind(options);
  readonly listMessages: Session["listMessages"] = (page) => this.#session.listMessages(page);
}

function modesOf({ agent, modes }: z.infer<typeof Config>): HarnessMode[] {
  if ((agent === undefined) === (modes === undefined)) {
    throw new CinchError("INVALID_CONFIG", "Harness: give it either an agent or modes.");
  }
  const all = modes ?? [{ id: "default", agent: agent! }];
  const twice = all.find(({ id }, at) => all.findIndex((mode) => mode.id === id) !== at);
  if (twice) throw new CinchError("INVALID_CONFIG", `Harness: two modes have the id "${twice.id}". Rename one.`);
  return all.map(({ id, name = id, agent: actor, metadata = {} }) => ({ id, name, agent: actor, metadata }));
}

function defaultOf(modes: readonly HarnessMode[], id: string | undefined): HarnessMode {
  const named = modes.find((mode) => mode.id === id);
  if (id !== undefined && !named) {
    throw new CinchError(
      "INVALID_CONFIG",
      `Harness: defaultModeId "${id}" is not one of ${modes.map((mode) => mode.id).join(", ")}.`,
    );
  }
  return named ?? modes.find(({ metadata }) => metadata["default"]) ?? modes[0]!;
}
