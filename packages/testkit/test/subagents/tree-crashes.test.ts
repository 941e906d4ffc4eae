import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { textOf, type DurableEvent, type ThreadRecord } from "@cinch/core";
import { durableTypes } from "@cinch/core/journal";
import { sqliteStore } from "@cinch/sqlite";
import { positions } from "../../src/torture/crash-point.ts";
import { inspectStore, problemsAfterCrash } from "../../src/torture/oracle.ts";
import { bundle } from "../bundle.ts";
import { place } from "../place.ts";
import { shareOf } from "../share.ts";
import { stopBetweenCommits, waitUntilStopped } from "../stop-process.ts";

const program = await bundle(new URL("../programs/tree.ts", import.meta.url));

/** A process that takes longer hangs. */
const LIMIT_MS = 300_000;

/** One process at the tree. */
class TreeProcess {
  readonly #child;
  readonly ended: Promise<string | null>;
  errors = "";

  constructor(at: string, crashAt?: string) {
    const { CRASH_AT: _, ...env } = process.env;
    this.#child = spawn(process.execPath, [program, at], {
      stdio: ["pipe", "pipe", "pipe"],
      env: crashAt === undefined ? env : { ...env, CRASH_AT: crashAt },
    });
    // Its end is told by `close`.
    this.#child.stdin.on("error", () => undefined);
    this.#child.stderr.on("data", (chunk: Buffer) => (this.errors += chunk.toString()));
    const limit = setTimeout(() => this.#child.kill("SIGTERM"), LIMIT_MS);
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (_code, signal) => {
        clearTimeout(limit);
        resolve(signal);
      });
    });
  }

  /** Settles when it has printed something. Its first line says that it is at the thread. */
  ready(): Promise<unknown> {
    return Promise.race([new Promise((resolve) => this.#child.stdout.once("data", resolve)), this.ended]);
  }

  order(): void {
    this.#child.stdin.write("go\n");
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** It does nothing from now on, if it has not ended yet. */
  stop(): void {
    if (this.#child.kill("SIGSTOP")) waitUntilStopped(this.pid);
  }

  signal(signal: "SIGCONT" | "SIGKILL"): void {
    this.#child.kill(signal);
  }
}

/** Where the first process is killed, and where the second one is, if at all. They count what each of them appends. */
type Deaths = readonly [first: string, second?: string];
const DEATHS: readonly Deaths[] = [
  ["subagent_start:before"],
  ["subagent_start:inside:2", "subagent_end:before:2"],
  ["subagent_start:after:1", "tool_approval_resolved:inside"],
  ["subagent_start:after:3"],
  ["subagent_start:emitted:5", "background_settled:after:2"],
  ["background_started:before:2"],
  ["background_started:inside:1"],
  ["background_started:after:3", "tool_approval_required:after"],
  ["background_started:emitted:4"],
  ["thread_created:before:1"],
  ["thread_created:after:2", "subagent_end:emitted:3"],
  ["thread_created:inside:3"],
  ["thread_created:after:4", "agent_end:after:2"],
  ["subagent_end:before:1", "thread_created:inside:2"],
  ["subagent_end:inside:2"],
  ["subagent_end:after:1", "subagent_end:after:1"],
  ["subagent_end:emitted:2"],
  ["tool_approval_required:before"],
  ["tool_approval_required:inside", "tool_approval_required:inside"],
  ["tool_approval_required:after", "subagent_end:inside:1"],
  ["tool_approval_resolved:before"],
  ["tool_approval_resolved:inside", "tool_approval_resolved:after"],
  ["tool_approval_resolved:after", "background_settled:inside:1"],
  ["background_settled:before:2"],
  ["background_settled:after:1"],
  ["background_settled:inside:3"],
  ["background_settled:emitted:4"],
  ["input_taken:after:7"],
  ["agent_end:before:1", "agent_end:before:3"],
  ["agent_end:after:4"],
];

/** Either process may do what the first is killed at, so these may not be reached. */
const RACES: readonly Deaths[] = [
  ["subagent_end:after:1", "subagent_end:after:2"],
  ["thread_created:after:2"],
  ["tool_approval_resolved:after"],
  ["agent_end:after:2"],
];

/**
 * Plays the tree once. The second process watches from the beginning, and the third one starts when the second is dead. With `isRace` the
 * first two act at the same time.
 */
async function play({ deaths, isRace }: { deaths: Deaths; isRace: boolean }): Promise<string[]> {
  const [first, second] = deaths;
  await using at = await place();
  const one = new TreeProcess(at.folder, first);
  const two = new TreeProcess(at.folder, second);
  const all = [one, two];
  try {
    await Promise.all([one.ready(), two.ready()]);
    // It watches, and can't act before the first one is dead. So the first one is killed where the test says.
    if (!isRace) stopBetweenCommits(two.pid, join(at.folder, "cinch.db"));
    one.order();
    const problems: string[] = [];
    const died = await one.ended;
    if (died !== "SIGKILL" && !isRace) problems.push(`${first} was not reached: ${one.errors}`);
    // The journals are read before the ledger: meanwhile no process may run a tool.
    two.stop();
    const before = inspectStore(at.folder);
    problems.push(...problemsAfterCrash(at.folder, before, undefined));
    two.signal("SIGCONT");
    let last = two;
    if ((await two.ended) === "SIGKILL") {
      all.push((last = new TreeProcess(at.folder)));
      const signal = await last.ended;
      if (signal) problems.push(`the last process ended with ${signal}`);
    } else if (second !== undefined && !isRace)
      problems.push(`${second} was not reached by the second process: ${two.errors}`);
    if (last.errors !== "") problems.push(last.errors);
    problems.push(...problemsAfterCrash(at.folder, inspectStore(at.folder), before), ...(await problemsOf(at.folder)));
    return problems.map((problem) => `${first} ${second ?? ""}: ${problem}`);
  } finally {
    for (const each of all) each.signal("SIGKILL");
  }
}

/** What must hold when the tree has ended: one result per call, one end and one note per child, one answer, nothing left open. */
async function problemsOf(at: string): Promise<string[]> {
  const store = sqliteStore({ path: join(at, "cinch.db") });
  await store.open();
  try {
    const threads = await store.threads();
    const journals = new Map<ThreadRecord, DurableEvent[]>();
    for (const thread of threads) journals.set(thread, await store.read(thread.id));
    const leases = await Promise.all(threads.map(({ id }) => store.lease(id)));
    const parent = [...journals].find(([{ id }]) => id === "t")![1];
    const found = {
      threads: threads.map(({ title }) => title).toSorted(),
      active: threads.filter(({ active }) => active).map(({ title }) => title),
      leases: new Set(leases.map(({ status }) => status)),
      results: parent.flatMap((event) => (event.type === "tool_end" ? [event.toolCallId] : [])).toSorted(),
      ends: endsOf(parent).toSorted(),
      settled: parent.filter(({ type }) => type === "background_settled").length,
      notes: notesOf(parent).toSorted(),
      answers: [...journals.values()].flat().filter(({ type }) => type === "tool_approval_resolved").length,
    };
    const names = ["asking", "ended", "front", "queued", "running"];
    const expected: typeof found = {
      threads: ["DO tree", ...names.map((name) => `worker: DO ${name}`)],
      active: [],
      leases: new Set(["free"]),
      results: ["call-0-0", "call-1-0", "call-2-0", "call-2-1", "call-3-0"],
      ends: names.map((name) => `${name} complete`),
      settled: 4,
      notes: names.filter((name) => name !== "front"),
      answers: 1,
    };
    return Object.entries(found).flatMap(([what, value]) => {
      try {
        assert.deepEqual(value, expected[what as keyof typeof found]);
        return [];
      } catch {
        return [`${what}: ${JSON.stringify(value instanceof Set ? [...value] : value)}`];
      }
    });
  } finally {
    await store.close();
  }
}

const endsOf = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === "subagent_end" ? [`${/(\w+) is done/.exec(textOf(event.result.content))?.[1]} ${event.status}`] : [],
  );

const notesOf = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type !== "message_end" || event.message.role !== "note") return [];
    return [...textOf(event.message.content).matchAll(/(\w+) is done/g)].map(([, name]) => name!);
  });

async function playAll(lists: readonly Deaths[], { isRace = false } = {}): Promise<string[]> {
  const queue = [...lists];
  const problems: string[] = [];
  const work = async () => {
    for (let deaths = queue.shift(); deaths; deaths = queue.shift()) problems.push(...(await play({ deaths, isRace })));
  };
  // More than there are cores, because they wait most of the time.
  await Promise.all([work(), work(), work()]);
  return problems;
}

test("a process of the tree is killed at each event of subagents, in each position", () => {
  const types = durableTypes.filter((type) => /^(subagent|background)_/.test(type));
  const all = types.flatMap((type) => positions.map((position) => `${type}:${position}`));
  const killed = new Set(DEATHS.map(([first]) => first.split(":").slice(0, 2).join(":")));
  assert.deepEqual(
    all.filter((point) => !killed.has(point)),
    [],
  );
});

test("after a kill at any point of a tree, the process that watched continues it: one result per call, one end and one note per child", async () =>
  assert.deepEqual(await playAll(shareOf(DEATHS, 3)), []));

test("two processes that act on one tree at the same time do nothing twice, also if one is killed", async () =>
  assert.deepEqual(await playAll(RACES, { isRace: true }), []));
