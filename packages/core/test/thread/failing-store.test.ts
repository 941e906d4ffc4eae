import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, CinchError, Harness, memoryStore } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { countingClock } from "../counting-clock.ts";
import { noting, permissions } from "../support.ts";
import { shareOf } from "../../../testkit/test/share.ts";
import { eventually } from "../workers/team.ts";
import { wrapped } from "../wrapped-store.ts";

const FAILING_MS = 100;
/** So many failures are tried at once. */
const AT_ONCE = 40;

/** Delegates to a subagent that uses a tool, and answers everything else. */
const model = scriptedBy(({ prompt }) => {
  const last = JSON.stringify(prompt.at(-1));
  if (last.includes("delegate")) return call("task", { agent: "search", prompt: "use the tool" });
  return last.includes("use the tool") ? call("note", { what: "x" }) : say("Done.");
});

for (const when of ["before", "after"] as const)
  test(`after a store that fails for a while, ${when} the effect of any call, the next message is answered, and no tool has run twice`, async () => {
    /** Whether the failure came: there may be fewer calls. */
    const isAnswered = async (nth: number): Promise<boolean> => {
      let [asked, until] = [0, Infinity];
      const fail = async (method: string): Promise<void> => {
        if (method === "open" || method === "close") return;
        if (++asked === nth) until = Date.now() + FAILING_MS;
        if (asked >= nth && Date.now() < until) throw new CinchError("STORE_FAILED", "The disk has an error.");
      };
      const never = () => undefined;
      const storage = when === "before" ? wrapped(memoryStore(), fail) : wrapped(memoryStore(), never, fail);
      const { note, runs } = noting();
      const search = new Agent({ name: "search", model, tools: { note } });
      const agent = new Agent({ name: "dev", model, subagents: [search] });
      const h = new Harness({ id: "test", agent, permissions, storage });
      // Its caller may get the failure.
      await h.sendMessage({ content: "delegate" }).catch(() => undefined);
      const hasFailed = until < Infinity;
      if (hasFailed) {
        // A timer may fire a moment before the clock says so.
        while (Date.now() < until) await pause(until - Date.now());
        // What failed is tried again.
        await h.resume();
        assert.equal((await h.settled()).status, "idle", `call ${nth}`);
        assert.equal((await h.sendMessage({ content: "again" })).reason, "complete", `call ${nth}`);
      }
      assert.ok(runs.length <= 1, `call ${nth}: ${runs.length} runs of one call`);
      await h.close();
      return hasFailed;
    };
    for (let first = 1; ; first += AT_ONCE) {
      const all = Array.from({ length: AT_ONCE }, (_, at) => first + at);
      const calls = shareOf(all, 3, when === "before" ? 0 : 1);
      if ((await Promise.all(calls.map(isAnswered))).includes(false)) return;
    }
  });

test("a store that is closed under a harness leaves no timer for its subagents", async () => {
  const clock = countingClock();
  let isClosed = false;
  const storage = wrapped(memoryStore(), async (method) => {
    if (isClosed && method !== "close") throw new CinchError("CLOSED", "The store is closed.");
  });
  const asked = Promise.withResolvers<void>();
  const scripted = scriptedBy(({ prompt }) => {
    if (JSON.stringify(prompt.at(-1)).includes("delegate")) return call("task", { agent: "search", prompt: "look" });
    isClosed = true;
    asked.resolve();
    return say("Found.");
  });
  const search = new Agent({ name: "search", model: scripted, tools: {} });
  const agent = new Agent({ name: "dev", model: scripted, subagents: [search] });
  const h = new Harness({ id: "test", agent, permissions, storage, clock });
  h.sendMessage({ content: "delegate" }).catch(() => undefined);
  await asked.promise;
  await eventually(() => clock.pending.size === 0);
  await pause(1_500);
  assert.equal(clock.pending.size, 0);
  await h.close().catch(() => undefined);
});
