import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError, memoryStore } from "@cinch/core";
import type { MemoryStore } from "@cinch/core/store";
import { script } from "@cinch/testkit";
import { shareOf } from "../../../testkit/test/share.ts";
import { wrapped } from "../wrapped-store.ts";
import { eventually, Team } from "./team.ts";
import { delegating, queueing } from "./trees.ts";

const FAILING_MS = 100;

/** The store of a process whose calls fail from the `nth` one on, for some time: without an effect, or after they had it. */
function failingAt(
  store: MemoryStore,
  nth: number,
  when: "before" | "after",
): { store: MemoryStore; hasFailed: () => boolean } {
  let [asked, until] = [0, Infinity];
  const fail = async (method: string): Promise<void> => {
    if (method === "open" || method === "close") return;
    if (++asked === nth) until = Date.now() + FAILING_MS;
    if (asked >= nth && Date.now() < until)
      throw new CinchError("STORE_FAILED", "The disk of the server has an error.");
  };
  const never = () => undefined;
  const failing = when === "before" ? wrapped(store, fail) : wrapped(store, never, fail);
  return { store: failing, hasFailed: () => until < Infinity };
}

/** So many failures are tried at once. */
const AT_ONCE = 64;
const model = script();

for (const when of ["before", "after"] as const)
  test(`a worker whose store fails for a while, ${when} the effect of any call, ends the turns of a tree, keeps no lease and runs no tool twice`, async () => {
    /** Whether the failure came: there may be fewer calls. */
    const ended = async (nth: number, configured: typeof delegating): Promise<boolean> => {
      await using team = new Team();
      const runs: unknown[] = [];
      const failing = failingAt(memoryStore(team.data), nth, when);
      const front = await team.front({ model, ...configured([]) });
      const { id } = await front.createThread();
      await front.followUp({ content: "go" });
      // No session is at the thread, so that no process but the worker has it open.
      await front.createThread();
      await team.worker({ model, ...configured(runs), storage: failing.store });
      await eventually(async () => (await front.store.read(id)).some(({ type }) => type === "agent_end"));
      await eventually(async () => (await front.store.load()).awake === 0);
      const threads = await front.store.threads();
      const leases = await Promise.all(threads.map((thread) => front.store.lease(thread.id)));
      assert.deepEqual(new Set(leases.map(({ status }) => status)), new Set(["free"]), `call ${nth}`);
      assert.ok(runs.length <= 2, `call ${nth}: ${runs.length} runs of two calls`);
      return failing.hasFailed();
    };
    const endAt = async (configured: typeof delegating): Promise<void> => {
      for (let first = 1; ; first += AT_ONCE) {
        const all = Array.from({ length: AT_ONCE }, (_, at) => first + at);
        const calls = shareOf(all, 3, when === "before" ? 0 : 1);
        if ((await Promise.all(calls.map((nth) => ended(nth, configured)))).includes(false)) return;
      }
    };
    await Promise.all([delegating, queueing].map(endAt));
  });
