import { CinchError } from "../errors.ts";
import type { Agent } from "../config/agent.ts";
import { withoutCatalog } from "../config/delegation.ts";
import type { AgentRecord, DurableEvent, HarnessEvent, ListedAgent } from "../events/event-map.ts";
import { hasNewProfile, type ThreadState } from "../folds/state.ts";
import type { Inherited } from "../folds/folds.ts";
import type { Transcript } from "../folds/transcript.ts";
import type { NewLive } from "../events/live-events.ts";
import { tokensOfHead, type Head } from "../model/prompt.ts";
import type { Modes } from "../config/modes.ts";
import type { Usage } from "../events/message.ts";
import { sleep, type Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { StateShape } from "../config/state-shape.ts";
import type { Live } from "../ports/live.ts";
import type { ContextSource } from "../ports/context-source.ts";
import type { Memory } from "../ports/memory.ts";
import type { Store } from "../ports/store.ts";
import type { NamedTool, ToolContext } from "../tools/tool.ts";
import type { MemoryJobs } from "../thread/memory-jobs.ts";
import type { DriverWatch } from "../thread/driver-watch.ts";
import type { DueThreads } from "../thread/due-threads.ts";
import type { Thread } from "../thread/thread.ts";
import type { Workspace } from "../ports/workspace.ts";
import type { Counters } from "../workers/counters.ts";
import type { Wakes } from "../workers/wakes.ts";
import type { PolicyLevels } from "../permissions/gate.ts";
import type { PathRuleLists } from "../permissions/path-rule.ts";
import { handBack, type Appended, type Decide } from "./decide.ts";
import { resourceText } from "./resource-memory.ts";
import { Offloading } from "./offloading.ts";
import { profileInHead } from "./profile-note.ts";
import { withTexts, type Setup } from "./setup.ts";
import type { RecordedHeads } from "./recorded-heads.ts";
import { recordOf, Sources } from "./sources.ts";

/** The part of a thread that a driver uses. */
export interface Journal {
  readonly id: string;
  readonly state: ThreadState;
  /** Of the tree, as far as this process has read its journals. */
  readonly policies: PolicyLevels;
  transcript(): Promise<Transcript>;
  read(range: { after: number; upTo: number; limit: number }): Promise<DurableEvent[]>;
  readonly memoryJobs: MemoryJobs;
  /** Keeps what a fork that this run starts inherits, so that its thread opens without reading the journal. */
  keepForFork(runId: string): void;
  append<Result>(decide: Decide<Result>, lease: LeaseUse): Promise<Appended<Result>>;
  live(event: NewLive): void;
  emit(event: HarnessEvent): void;
  /** Settles after the next durable event. */
  changed(): Promise<void>;
}

export type LeaseUse = { take: number } | { epoch: number };

export interface DriverPorts {
  store: Store;
  clock: Clock;
  ids: Ids;
  /** Of the thread's agent. */
  modes: Modes;
  shape: StateShape;
  workspace: Workspace | undefined;
  memory: Memory | undefined;
  sources: readonly ContextSource[];
  live: Live | undefined;
  threads: OpenThreads;
  /** Without a placement there are none: each process drives the threads that it has open. */
  wakes: Wakes | undefined;
  counters: Counters;
  heads: RecordedHeads;
  due: DueThreads;
  watch: DriverWatch;
  /** In dollars; `null` if the price is not known. */
  costOf(usage: Usage, modelId: string): number | null;
}

/** The threads of this process. A thread that is acquired stays open until it is released. */
export interface OpenThreads {
  /** `from`: what a clone inherits, if its source is open here. */
  acquire(threadId: string, from?: Inherited): Promise<Thread>;
  release(thread: Thread): Promise<void>;
  /** Opens the thread for the time that `work` takes. */
  visit<T>(threadId: string, work: (thread: Thread) => Promise<T>): Promise<T>;
  /** Opens the hidden thread in which the threads of a resource keep what they share. */
  ofResource<T>(what: "files" | "memory", resourceId: string, work: (thread: Thread) => Promise<T>): Promise<T>;
  /** `undefined`: it is not open in this process. */
  opened(threadId: string): Thread | undefined;
}

/** An authorized call: its tool, its checked arguments, and the answer to its suspension. */
export interface RunnableCall {
  tool: NamedTool;
  input: unknown;
  resumed: ToolContext["resumed"];
  /** Of the agents that it was judged by. */
  pathRules: PathRuleLists;
  /** A driver that died had started it, so it may have had its effect. */
  wasInterrupted: boolean;
  /** Of a subagent: judges the call again, by the rules that the threads above have now. */
  isStillPermitted: (() => Promise<boolean>) | null;
}

/** Another process may drive the thread now, so this one must not act on it any more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** A driver whose last append is older than this checks its lease before an effect. */
const RECHECK_MS = 2_000;
const STORE_RETRY_MS = 500;

interface NewLease {
  epoch: number;
  takeover: boolean;
  force: boolean;
  declinesQuestions: boolean;
}

/** Advances one thread under a lease, and holds what is valid only under this lease. */
export class Driver {
  readonly journal: Journal;
  readonly ports: DriverPorts;
  /** The previous driver died without releasing the lease. */
  readonly takeover: boolean;
  /** `resume()` was called: held inputs and a parked turn continue too. */
  readonly force: boolean;
  /** Calls that wait for a person are declined. */
  readonly declinesQuestions: boolean;
  /** Calls that this driver has started in the journal and not run yet. */
  readonly runnable = new Map<string, RunnableCall>();
  /** The provider refused the prompt of this step as too long. */
  hasOverflowed = false;
  #lease: LeaseUse | null;
  /** The epoch of a lease that an append may have taken before it failed. */
  #mayHold: number | undefined;
  #turn = new AbortController();
  readonly #close = new AbortController();
  #confirmedAt: number;
  #hasDriven = false;
  #isDraining = false;
  readonly sources = new Sources(this);
  /** The subagents that agents of this turn can delegate to. */
  readonly #subagents = new Map<Agent, readonly ListedAgent[]>();
  #hasBegunTurn = false;

  constructor(journal: Journal, ports: DriverPorts, lease: NewLease) {
    this.journal = journal;
    this.ports = ports;
    this.takeover = lease.takeover;
    this.force = lease.force;
    this.declinesQuestions = lease.declinesQuestions;
    this.#lease = { take: lease.epoch };
    this.#confirmedAt = ports.clock.now();
  }

  /** The threads above this one, the top-level thread first. They are open while this driver drives. */
  get ancestors(): readonly Thread[] {
    return ancestorsOf(this.state.agent, this.ports.threads);
  }

  /** After the append with the `tool_start` of these calls. */
  addRunnable(calls: ReadonlyMap<string, RunnableCall> = new Map()): void {
    for (const [toolCallId, call] of calls) this.runnable.set(toolCallId, call);
  }

  get state(): ThreadState {
    return this.journal.state;
  }

  /** It has appended something, so it did hold the lease. */
  get hasDriven(): boolean {
    return this.#hasDriven;
  }

  /** Its first events are in the journal, or further ones. */
  begun(): void {
    if (this.takeover && !this.#hasDriven) this.ports.counters.takeovers++;
    this.#hasDriven = true;
  }

  get drives(): boolean {
    return this.#lease !== null && !this.closing.aborted;
  }

  /** Aborted with the turn, and when this driver has to stop. */
  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  /** Aborted when this driver has to stop. */
  get closing(): AbortSignal {
    return this.#close.signal;
  }

  newTurn(): void {
    this.#hasBegunTurn = true;
    this.#subagents.clear();
    this.#turn = new AbortController();
    if (this.closing.aborted) this.#turn.abort();
  }

  abortTurn(): void {
    this.#turn.abort();
  }

  /** Begins no step and no call any more. What runs goes on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Whether it may begin a step or a call. What a newer release has written may forbid it. */
  get mayBegin(): boolean {
    const isForeign = this.state.foreign ?? this.ancestors.some(({ state }) => state.foreign);
    return this.drives && !this.#isDraining && !isForeign;
  }

  /** Stops without ending the turn: another driver continues it. */
  close(): void {
    this.#close.abort();
    this.#turn.abort();
  }

  /** Returns the result of the decision. Long texts are offloaded in the same append. Throws `LeaseLost`. */
  async append<Result>(decide: Decide<Result>): Promise<Result | undefined> {
    const lease = this.#lease;
    if (!lease) throw new LeaseLost();
    const offloading = new Offloading(this);
    const appended = await this.askStore(() => offloading.append(decide, lease)).catch((error: unknown) => {
      // The store does not say whether this was written.
      if ("take" in lease) this.#mayHold = lease.take + 1;
      throw error;
    });
    switch (appended.kind) {
      case "nothing":
        return appended.result;
      case "refused":
        this.#lease = null;
        throw new LeaseLost();
      case "appended":
        // Not the time at which the store answered: the process may have been suspended since the events were made, and replaced.
        this.#confirmedAt = appended.events[0]!.at;
        this.#lease = appended.released ? null : { epoch: appended.epoch };
        return appended.result;
    }
  }

  /** Asks again until the store answers: a driver has no caller that could. */
  async askStore<T>(ask: () => Promise<T>): Promise<T> {
    for (let isReported = false; ; isReported = true) {
      try {
        return await ask();
      } catch (error) {
        const mayRecover = error instanceof CinchError && (error.code === "STORE_FULL" || error.code === "STORE_BUSY");
        if (!mayRecover || this.closing.aborted) throw error;
        const message = `Waiting for the store: ${error.message}`;
        if (!isReported) this.journal.live({ type: "info", message, waitsFor: "store" });
        await sleep(this.ports.clock, STORE_RETRY_MS);
      }
    }
  }

  /** Throws `LeaseLost` if another driver has taken over. Must be called right before an effect: this process may have been suspended. */
  async confirm(): Promise<void> {
    if (!this.#lease || !("epoch" in this.#lease)) throw new LeaseLost();
    const now = this.ports.clock.now();
    const age = now - this.#confirmedAt;
    // A negative age means that the clock was set back.
    if (age >= 0 && age < RECHECK_MS) return;
    const { epoch } = this.#lease;
    if (!(await this.askStore(() => this.ports.store.holds(this.journal.id, epoch)))) {
      this.#lease = null;
      throw new LeaseLost();
    }
    this.#confirmedAt = now;
  }

  async saveDraft(pieces: Parameters<Store["saveDraft"]>[2]): Promise<void> {
    if (this.#lease && "epoch" in this.#lease)
      await this.ports.store.saveDraft(this.journal.id, this.#lease.epoch, pieces);
  }

  /** The epoch of the lease. `undefined`: this driver has not taken it yet, or has lost it. */
  get epoch(): number | undefined {
    return this.#lease && "epoch" in this.#lease ? this.#lease.epoch : undefined;
  }

  /** Releases the lease, and hands back the calls that this driver has not run. Rejects if the store can't: the supervisor tries again. */
  async release(): Promise<void> {
    if (this.epoch !== undefined && this.runnable.size > 0)
      await this.append((state) => handBack(state, this.runnable));
    const epoch = this.epoch ?? this.#mayHold;
    if (epoch !== undefined) await this.ports.store.release(this.journal.id, epoch);
    this.#lease = null;
  }

  /** The head that the journal has for this setup. If there is none, makes one and records it with the reason. */
  async head(setup: Setup): Promise<Head> {
    const subagents = await this.#listSubagents(setup);
    const made = setup.head(subagents);
    const [key, profile] = await Promise.all([made.key, made.profileVersion]);
    const known = this.state.head;
    if (known?.key === key && !known.isOutdated) return this.ports.heads.get(known.blob);
    const { texts } = this.sources;
    const added = [...texts.map(({ text }) => text), await resourceText(this)].filter((text) => text !== "");
    const { head, blob, bytes } = await withTexts(await made.make(), added);
    const { modelId, mode } = setup;
    const { ids, clock } = this.ports;
    const agentName = mode.agent.name;
    const listed = subagents ? { subagents: [...subagents] } : {};
    const own = profile === "" ? {} : { profile };
    const more = { ...own, ...listed, tokens: tokensOfHead(head), sources: recordOf(texts) };
    await this.append((state) => {
      if (!state.turn || (state.head?.key === key && !state.head.isOutdated)) return null;
      const { turnId } = state.turn;
      const reason = reasonFor(state.head, { agentName, modelId });
      return {
        events: [
          { type: "prompt_head", turnId, blob, key, reason, agentName, modelId, ...more },
          ...profileInHead(state, { version: profile, ids, now: clock.now() }),
        ],
        blobs: [{ hash: blob, bytes }],
      };
    });
    this.ports.heads.add(blob, head);
    return head;
  }

  /**
   * The driver that begins a turn lists the subagents of an agent once. The last list of the thread stands if that fails, in a fork, and
   * for a driver that continues a turn.
   */
  async #listSubagents({ delegation, isFork }: Setup): Promise<readonly ListedAgent[] | null> {
    if (!delegation) return null;
    const { agent } = delegation;
    const { head } = this.state;
    const last = head?.agentName === agent.name ? head.subagents : null;
    const isListed = last !== null && (isFork || !this.#hasBegunTurn);
    const listed =
      this.#subagents.get(agent) ?? (isListed ? last : ((await delegation.list()) ?? last ?? withoutCatalog));
    this.#subagents.set(agent, listed);
    return listed;
  }
}

/** The threads above a subagent's thread that are open here, the top-level thread first. */
export function ancestorsOf(agent: AgentRecord | null, threads: OpenThreads): readonly Thread[] {
  const owner = agent && threads.opened(agent.owner);
  return owner ? [...ancestorsOf(owner.state.agent, threads), owner] : [];
}

/** Why the head of the prompt changed. */
function reasonFor(before: ThreadState["head"], now: { agentName: string; modelId: string }): string {
  if (!before) return "first use";
  if (before.agentName !== now.agentName) return `agent changed from "${before.agentName}" to "${now.agentName}"`;
  if (before.isOutdated) {
    const sources = before.hasNewSources ? ["context sources"] : [];
    const profile = hasNewProfile(before) ? [`the profile of model "${before.modelId}"`] : [];
    return `${[...sources, ...profile].join(" and ")} changed`;
  }
  if (before.modelId !== now.modelId) return `model changed from "${before.modelId}" to "${now.modelId}"`;
  return "instructions or tools changed";
}
