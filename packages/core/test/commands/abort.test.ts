import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type Clock, type Harness } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, fail, hang, inTurn, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { harness, next } from "../support.ts";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";

const deaf = defineTool({
  description: "Does not hear its signal",
  category: "read",
  effect: "once",
  input: z.object({}),
  execute: () => new Promise<never>(() => undefined),
});
const careful = defineTool({
  description: "Asks first",
  category: "execute",
  input: z.object({}),
  execute: () => "never",
});

const states: [string, Step, (h: Harness) => Promise<unknown>][] = [
  ["streaming", hang("once upon"), (h) => next(h, "message_update")],
  ["silence", hang(), (h) => next(h, "message_start")],
  [
    "retry sleep",
    fail(Object.assign(new Error("busy"), { statusCode: 529, responseHeaders: { "retry-after": "50" } })),
    (h) => next(h, "retry_scheduled"),
  ],
  ["a hanging tool", call("deaf"), (h) => next(h, "tool_start")],
  ["a pending approval", call("careful"), (h) => next(h, "tool_approval_required")],
  ["a pending question", call("ask_user", { question: "Well?" }), (h) => next(h, "tool_suspended")],
  [
    "a pending question beside a hanging tool",
    call(["ask_user", { question: "Well?" }], ["deaf", {}]),
    (h) => next(h, "tool_suspended"),
  ],
];

for (const [name, step, reached] of states) {
  test(`abort reaches idle within 2 s from ${name}, settles pending calls, and leaves nothing running`, async () => {
    const storage = memoryStore();
    const clock = waitingClock();
    await using h = await harness({
      model: script(inTurn(step, say("after")), say("after")),
      tools: { deaf, careful },
      storage,
      clock,
    });
    const inState = reached(h);
    const turn = h.sendMessage({ content: "Go" });
    await inState;
    await h.followUp({ content: "And then" });
    const info = next(h, "info");
    const since = clock.now();
    await h.abort();
    assert.ok(clock.now() - since < 2_000);
    assert.equal((await turn).reason, "aborted");
    const { status, pendingApprovals, pendingSuspensions, activeTools, currentMessage, inbox } = h.getDisplayState();
    assert.deepEqual(
      [status, pendingApprovals, pendingSuspensions, activeTools, currentMessage],
      ["idle", {}, {}, {}, null],
    );
    assert.equal((await storage.lease(h.getCurrentThreadId()!)).status, "free");
    assert.deepEqual(await h.pendingApprovals(), []);
    // Queued inputs stay, and `agent_end` says that they are held.
    assert.deepEqual(
      inbox.map(({ content }) => content),
      ["And then"],
    );
    assert.match((await info).message, /One input stays queued/);
    await assert.rejects(h.respondToToolApproval({ decision: "approve" }), { code: "NOT_PENDING" });
    await assert.rejects(h.respondToToolSuspension({ resumeData: "x" }), { code: "NOT_PENDING" });
    const ended = next(h, "agent_end");
    await h.resume();
    assert.equal((await ended).reason, "complete");
  });
}

/** Calls back each time a driver checks whether its lease is still valid. */
class AskingStore extends MemoryStore {
  asked: (() => Promise<void>) | undefined;
  override async holds(...args: Parameters<MemoryStore["holds"]>): Promise<boolean> {
    await this.asked?.();
    return super.holds(...args);
  }
}

test("a call whose turn is aborted while its lease is confirmed is not run", async () => {
  const storage = new AskingStore(new MemoryData());
  const runs: string[] = [];
  const act = defineTool({ description: "Acts", input: z.object({}), execute: () => void runs.push("ran") });
  // Each reading of the clock is later than the last one by more than the time after which a driver checks its lease.
  let now = 0;
  const clock: Clock = {
    now: () => (now += 10_000),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  };
  await using h = await harness({ model: script(call("act"), say("after")), tools: { act }, storage, clock });
  const aborted = Promise.withResolvers<void>();
  storage.asked = async () => {
    storage.asked = undefined;
    const requested = next(h, "abort_requested");
    aborted.resolve(h.abort().then(() => undefined));
    await requested;
  };
  assert.equal((await h.sendMessage({ content: "Go" })).reason, "aborted");
  await aborted.promise;
  assert.deepEqual(runs, []);
});
