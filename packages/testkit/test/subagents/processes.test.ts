import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { textOf, type DurableEvent } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { ofType, place } from "../place.ts";
import { RemoteHarness } from "../remote-harness.ts";

/** The threads of the store, the top-level one first, with their leases. */
async function threadsIn(folder: string) {
  const store = sqliteStore({ path: join(folder, "cinch.db") });
  await store.open();
  try {
    const threads: { title: string; lease: string; active: boolean; events: DurableEvent[] }[] = [];
    for (const { id, title, active } of await store.threads())
      threads.push({ title, active, lease: (await store.lease(id)).status, events: await store.read(id) });
    return threads.toSorted((a, b) => depthOf(a.events) - depthOf(b.events));
  } finally {
    await store.close();
  }
}

const depthOf = (events: readonly DurableEvent[]): number =>
  ofType(events, "thread_created")[0]?.agent?.path.length ?? 0;

test("the approval of a grandchild is answered in another process after kill -9, without a step of the agents above it", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await first.order("tree");
  const waiting = await threadsIn(at.folder);
  assert.deepEqual(
    waiting.map(({ title, lease, active }) => [title, lease, active]),
    [
      ["tree", "free", true],
      ["explore: explore", "free", true],
      ["search: search", "free", true],
    ],
  );
  await first.kill();

  await using second = new RemoteHarness(at.folder);
  await second.do("until", "waiting");
  const [approval] = Object.values((await second.show()).pendingApprovals);
  assert.deepEqual([approval?.path, approval?.args], [["explore", "search"], { what: "deep down" }]);
  await second.do("respondToToolApproval", { toolCallId: approval!.toolCallId, decision: "approve", by: "Ada" });
  await second.do("until", "idle");
  assert.deepEqual(at.ledger(), ["guarded deep down"]);

  const ended = await threadsIn(at.folder);
  const ofThread = (n: number) => ended[n]!.events;
  assert.deepEqual(
    ended.map(({ lease, active, events }) => [lease, active, ofType(events, "agent_end").map(({ reason }) => reason)]),
    Array.from({ length: 3 }, () => ["free", false, ["complete"]]),
  );
  assert.deepEqual(
    ended.map(({ events }) => ofType(events, "tool_end").map(({ result }) => textOf(result.content))),
    [["<task_result>\nexplored\n</task_result>"], ["<task_result>\nfound\n</task_result>"], ["guarded did deep down"]],
  );
  assert.deepEqual(
    ofType(ofThread(2), "tool_approval_resolved").map(({ by }) => by),
    ["Ada"],
  );
  // Each agent was asked twice: for its call, and for its report.
  assert.deepEqual(
    ended.map(({ events }) => ofType(events, "usage_update").length),
    [2, 2, 2],
  );
});

test("when two processes answer the approval of a grandchild, one is refused", async () => {
  await using at = await place();
  await using first = new RemoteHarness(at.folder);
  await first.order("tree");
  await using second = new RemoteHarness(at.folder);
  await second.do("until", "waiting");
  const [approval] = Object.values((await second.show()).pendingApprovals);
  const answer = { toolCallId: approval!.toolCallId, threadId: approval!.threadId, decision: "approve" };
  const answers = await Promise.all([first, second].map((one) => one.call("respondToToolApproval", answer)));
  const refused = answers.flatMap(({ error }) => error ?? []);
  assert.ok(refused.length === 1 && /^(ALREADY_ANSWERED|NOT_PENDING)$/.test(refused[0]!), JSON.stringify(answers));
  await first.do("until", "idle");
  assert.deepEqual(at.ledger(), ["guarded deep down"]);
});
