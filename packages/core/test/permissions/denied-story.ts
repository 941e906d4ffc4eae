import assert from "node:assert/strict";
import {
  CinchError,
  type Harness,
  type PendingApproval,
  type Policy,
  type Session,
  type ToolCategory,
} from "@cinch/core";
import { auditClone, auditRuns, Walk, type Known } from "./denied-oracle.ts";
import type { Op, Plan } from "./denied-plan.ts";
import { modeId } from "./denied-setting.ts";
import { Process, World } from "./denied-world.ts";

type Named = { toolName: string; policy: Policy };
type Categorical = { category: ToolCategory; policy: Policy };

/** Errors of a command that came too late, or of an answer without a waiting call. */
const EXPECTED: readonly unknown[] = ["NOT_PENDING", "ALREADY_ANSWERED", "INVALID_INPUT", "CLOSED"];

/** Timers up to this length must have fired before everything counts as settled: ticks and polls, but not checks of a driver's lease. */
const SHORT_MS = 50;

interface Command {
  process: Process;
  what: string;
  settled: boolean;
  failure: unknown;
}

/** Runs a plan to its end, and checks the result with the oracle. */
export class Story {
  readonly world: World;
  readonly #plan: Plan;
  readonly #processes: Process[] = [];
  readonly #threads: (string | null)[] = [null, null];
  /** The `onRecover` of the next process in this place. */
  readonly #next: ("resume" | "pause")[] = ["resume", "resume"];
  readonly #commands: Command[] = [];
  readonly #shown: PendingApproval[] = [];
  readonly #digests = new Map<string, string | undefined>();
  readonly #clones: { source: string; id: string; between: [number, number] }[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.world = new World(plan);
  }

  async play(): Promise<void> {
    this.#start(0);
    await this.world.settle(0);
    this.#start(1);
    for (const op of this.#plan.ops) await this.#take(op);
    await this.world.settle();
    await this.#end();
    this.#audit();
  }

  async #take(op: Op): Promise<void> {
    if (op.soon) return this.world.interfere(() => this.#do(op));
    while (await this.world.step(SHORT_MS));
    this.#do(op);
  }

  #start(who: 0 | 1, onRecover: "resume" | "pause" = "resume"): void {
    const process = new Process(this.world, this.#plan.settings[who], onRecover);
    this.#processes[who] = process;
    const threadId = this.#threads[who];
    const { harness } = process;
    const open = () => (threadId ? harness.switchThread({ threadId }) : harness.selectOrCreateThread());
    this.#command(process, "open", open, ({ id }) => (this.#threads[who] = id));
  }

  #command<T>(process: Process, what: string, give: () => Promise<T>, then?: (result: T) => unknown): void {
    const command: Command = { process, what, settled: false, failure: undefined };
    this.#commands.push(command);
    const settled = (failure?: unknown) => {
      command.settled = true;
      if (!(failure instanceof CinchError && EXPECTED.includes(failure.code))) command.failure = failure;
    };
    give()
      .then((result) => then?.(result))
      .then(() => settled(), settled);
  }

  #do(op: Op): void {
    // A dead process is replaced when an operation needs it. Another process may act first.
    if (this.#processes[op.who]!.dead) this.#start(op.who, this.#next[op.who]);
    const process = this.#processes[op.who]!;
    const { harness } = process;
    const give = (work: () => Promise<unknown>) => this.#command(process, op.do, work);
    switch (op.do) {
      case "say":
        return give(() => harness.post({ content: "go on", delivery: op.delivery }));
      case "rule":
        return give(() =>
          op.rule.toolName !== undefined
            ? harness.setPermissionForTool(op.rule as Named)
            : harness.setPermissionForCategory(op.rule as Categorical),
        );
      case "grant": {
        const { policy: _, ...target } = op.rule;
        return give(() =>
          target.toolName !== undefined
            ? harness.grantSessionTool(target as Named)
            : harness.grantSessionCategory(target as Categorical),
        );
      }
      case "yolo":
        return give(() => harness.setState({ yolo: op.on }));
      case "mode":
        return give(() => harness.switchMode({ modeId: modeId(op.mode % this.#plan.settings[0].modes.length) }));
      case "answer":
        return give(() => this.#answer(harness, op));
      case "abort":
        return give(() => harness.abort());
      case "resume":
        return give(() => harness.resume());
      case "wait":
        return;
      case "restart":
        return give(async () => {
          const closed = harness.close();
          this.#start(op.who);
          await closed;
        });
      case "die": {
        const { operations, place, onRecover } = op;
        const drives = this.#processes.findIndex(({ store }, at) => store.drives(this.#threads[at] ?? ""));
        const who = drives === 1 ? 1 : op.who;
        this.#next[who] = onRecover;
        return this.#processes[who]!.store.dieAt({ operations, place });
      }
      case "clone":
        return give(() => this.#clone(op.who, op.back));
      case "rewind":
        return give(() => harness.rewind({ toSeq: Math.max(1, harness.getDisplayState().seq - op.back) }));
    }
  }

  async #answer(seat: Harness, op: Op & { do: "answer" }): Promise<unknown> {
    const { pendingApprovals, pendingSuspensions, status } = seat.getDisplayState();
    const pending = Object.values(pendingApprovals);
    const suspended = Object.keys(pendingSuspensions);
    this.#shown.push(...pending);
    if (status === "idle" && !op.late) return seat.post({ content: "go on", delivery: "send" });
    if (suspended.length > 0 && (pending.length === 0 || op.which === 3)) {
      const toolCallId = suspended[op.which % suspended.length]!;
      const resumeData = { action: op.message ? "approved" : "rejected" };
      return seat.respondToToolSuspension({ toolCallId, resumeData });
    }
    const choice = op.late ? this.#shown : pending;
    const shown = choice[op.which % choice.length];
    const by = this.world.id("person");
    this.#digests.set(by, shown?.digest);
    const { decision, args } = op;
    return seat.respondToToolApproval({
      ...(shown ? { toolCallId: shown.toolCallId, digest: shown.digest } : {}),
      decision,
      by,
      ...(decision === "edit" ? { args } : {}),
      ...(op.message ? { message: "as you like" } : {}),
    });
  }

  async #clone(who: 0 | 1, back: number): Promise<void> {
    const { harness } = this.#processes[who]!;
    const { threadId: source, seq } = harness.getDisplayState();
    if (source === null) return;
    const since = this.world.lastSeq(source);
    const { id } = await harness.cloneThread({ sourceThreadId: source, atSeq: Math.max(1, seq - back) });
    this.#threads[who] = id;
    this.#clones.push({ source, id, between: [since, this.world.lastSeq(source)] });
  }

  /** Opens every thread: each continues, waits for a person or is parked, and can be aborted. */
  async #end(): Promise<void> {
    const { world } = this;
    const last = new Process(world, this.#plan.settings[0]);
    const seats: Session[] = [];
    for (const threadId of world.data.threads.keys())
      this.#command(
        last,
        "open",
        () => last.harness.createSession({ threadId }),
        (seat) => seats.push(seat),
      );
    await world.settle();
    this.#assertSettled();
    assert.equal(seats.length, world.data.threads.size);
    for (const seat of seats) {
      const { status, threadId } = seat.getDisplayState();
      assert.notEqual(status, "running", `${threadId} hangs`);
      this.#command(last, "abort", () => seat.abort());
    }
    await world.settle();
    this.#assertSettled();
    for (const seat of seats) assert.equal(seat.getDisplayState().status, "idle");
  }

  #assertSettled(): void {
    for (const { process, what, settled, failure } of this.#commands) {
      if (failure !== undefined) throw new Error(`"${what}" failed`, { cause: failure });
      assert.ok(settled || process.dead, `"${what}" was never answered`);
    }
  }

  #audit(): void {
    const { world } = this;
    const known: Known = {
      settingAt: (threadId, seq) => world.writers.get(`${threadId}:${seq}`)!,
      modeAfter: (threadId, seq) => {
        const changes = world.cuts.get(`${threadId}:${seq}`)!.filter((event) => event.type === "mode_changed");
        return changes.at(-1)?.modeId ?? modeId(0);
      },
      digestOf: (by) => this.#digests.get(by),
    };
    const walks = new Map([...world.data.threads.keys()].map((id) => [id, new Walk(known, world.journal(id))]));
    const all = [...walks.values()];
    auditRuns(
      world.ran,
      all.flatMap(({ starts }) => starts),
      new Map(all.flatMap(({ ends }) => [...ends])),
    );
    for (const { source, id, between } of this.#clones) {
      const [clone] = walks.get(id)!.states.values();
      auditClone(clone!, walks.get(source)!.states, between);
    }
  }
}
