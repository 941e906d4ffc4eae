import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, memoryStore, type DurableEvent, type Store } from "@cinch/core";
import type { MemoryStore } from "@cinch/core/store";
import { script } from "@cinch/testkit";
import { wrapped } from "../wrapped-store.ts";
import { eventually, Team } from "./team.ts";
import { delegating, queueing } from "./trees.ts";

const AWAY_MS = 200;

/** The store of a process that loses its database at the `nth` call, and gets it back after some time. */
function awayAt(store: MemoryStore, nth: number): { store: MemoryStore; wasAway: () => boolean } {
  let [asked, backAt] = [0, Infinity];
  const reach = async (method: string): Promise<void> => {
    if (method === "open" || method === "close") return;
    if (++asked === nth) backAt = Date.now() + AWAY_MS;
    if (asked >= nth && Date.now() < backAt) throw new CinchError("STORE_BUSY", "The database does not answer.");
  };
  return { store: wrapped(store, reach), wasAway: () => backAt < Infinity };
}

/** What a reader of the journals learns of calls, runs and turns. */
async function story(store: Store): Promise<string[]> {
  const journals = await Promise.all((await store.threads()).map(({ id }) => store.read(id)));
  return journals.flat().flatMap(lineOf).toSorted();
}

function lineOf(event: DurableEvent): string[] {
  switch (event.type) {
    case "tool_end":
      return [`${event.toolName}: ${event.isError ? JSON.stringify(event.result) : "ended"}`];
    case "agent_end":
      return [`turn: ${event.reason}`];
    case "subagent_end":
      return [`run: ${event.status}`];
    default:
      return [];
  }
}

/** So many outages are tried at once. */
const AT_ONCE = 24;
const model = script();

for (const [what, configured, expected] of [
  [
    "that waits for its subagent",
    delegating,
    ["note: ended", "note: ended", "run: complete", "task: ended", "turn: complete", "turn: complete"],
  ],
  [
    "with a queue in the background",
    queueing,
    [
      "agent_await: ended",
      "note: ended",
      "note: ended",
      "run: complete",
      "run: complete",
      "task: ended",
      "task: ended",
      "turn: complete",
      "turn: complete",
      "turn: complete",
    ],
  ],
] as const)
  test(`a worker whose database is away for a while, from any call on, ends the turn of a tree ${what} as it would have`, async () => {
    /** Whether the outage came: there may be fewer calls. */
    const survived = async (nth: number): Promise<boolean> => {
      await using team = new Team();
      const runs: unknown[] = [];
      const away = awayAt(memoryStore(team.data), nth);
      const front = await team.front({ model, ...configured([]) });
      const { id } = await front.createThread();
      await front.followUp({ content: "go" });
      // No session is at the thread, so that no process but the worker has it open.
      await front.createThread();
      await team.worker({ model, ...configured(runs), storage: away.store });
      await eventually(async () => (await front.store.read(id)).some(({ type }) => type === "agent_end"));
      await eventually(async () => (await front.store.load()).awake === 0);
      assert.deepEqual([await story(front.store), runs.length], [expected, 2], `call ${nth}`);
      return away.wasAway();
    };
    for (let first = 1; ; first += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, (_, at) => first + at);
      if ((await Promise.all(calls.map(survived))).includes(false)) return;
    }
  });
