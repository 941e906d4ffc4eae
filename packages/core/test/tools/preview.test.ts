import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, memoryStore, type PendingApproval, type PreviewContext } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness, next } from "../support.ts";

/** A tool that asks, with this preview. */
function previewing(preview: (args: { target: string }, context: PreviewContext) => unknown) {
  const runs: string[] = [];
  const deploy = defineTool({
    description: "Deploys",
    category: "execute",
    input: z.object({ target: z.string() }),
    preview,
    execute: ({ target }) => void runs.push(target),
  });
  return { deploy, runs };
}

const deployed = () => script(call("deploy", { target: "staging" }, "c0"), say("up"));

/** The question of a call with this preview. */
async function asked(preview: Parameters<typeof previewing>[0]): Promise<PendingApproval> {
  const { deploy, runs } = previewing(preview);
  await using h = await harness({ model: deployed(), tools: { deploy } });
  const question = next(h, "tool_approval_required");
  const turn = h.sendMessage({ content: "Ship it" });
  const { preview: recorded = null } = await question;
  const { pendingApproval } = h.getDisplayState();
  assert.deepEqual(pendingApproval!.preview, recorded);
  assert.deepEqual(runs, [], "a preview does not run the tool");
  await h.respondToToolApproval({ decision: "approve" });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(runs, ["staging"]);
  return pendingApproval!;
}

test("a call that asks shows what the tool says that it would do", async () => {
  const { preview } = await asked(({ target }) => ({ changes: [`${target}: 1.2 → 1.3`] }));
  assert.deepEqual(preview, { changes: ["staging: 1.2 → 1.3"] });
});

test("a preview is shown after a restart, and is not computed again", async () => {
  const data = new MemoryData();
  let count = 0;
  const { deploy, runs } = previewing(() => ({ count: ++count }));
  const first = await harness({ model: deployed(), tools: { deploy }, storage: memoryStore(data) });
  const turn = first.sendMessage({ content: "Ship it" });
  turn.catch(() => undefined);
  await next(first, "tool_approval_required");
  await first.close();
  await using h = await harness({ model: script(say("up")), tools: { deploy }, storage: memoryStore(data) });
  await h.selectOrCreateThread();
  assert.deepEqual(h.getDisplayState().pendingApproval?.preview, { count: 1 });
  const [pending] = await h.pendingApprovals();
  assert.deepEqual(pending?.preview, { count: 1 });
  const ended = next(h, "agent_end");
  await h.respondToToolApproval({ decision: "approve" });
  await ended;
  assert.deepEqual([count, runs], [1, ["staging"]]);
});

const useless: Record<string, () => unknown> = {
  throws: () => {
    throw new Error("no");
  },
  rejects: () => Promise.reject(new Error("no")),
  "is nothing": () => undefined,
  "is not JSON": () => new Map(),
  "is too long": () => "x".repeat(50_001),
};

for (const [what, preview] of Object.entries(useless))
  test(`a call whose preview ${what} asks without one`, async () => {
    assert.equal((await asked(preview)).preview, null);
  });

test("a preview that takes longer than a second is aborted, and the call asks without it", async () => {
  let signal: AbortSignal | undefined;
  const { preview } = await asked((_, context) => {
    signal = context.signal;
    return new Promise(() => {});
  });
  assert.deepEqual([preview, signal?.aborted], [null, true]);
});

test("an abort does not wait for a preview", async () => {
  const begun = Promise.withResolvers<void>();
  const { deploy } = previewing(() => {
    begun.resolve();
    return new Promise(() => {});
  });
  await using h = await harness({ model: deployed(), tools: { deploy } });
  const turn = h.sendMessage({ content: "Ship it" });
  await begun.promise;
  await h.abort();
  assert.equal((await turn).reason, "aborted");
});

test("a preview can read the thread's files, and changes none", async () => {
  const { preview } = await asked(async (_, { files, threadId }) => {
    files.read("/a", "1");
    const change = { path: "/a", operation: "write" as const, before: null, after: null };
    return { recorded: await files.record(() => [change]), seen: files.seen("/a") ?? null, threadId };
  });
  assert.equal((preview as { recorded: boolean }).recorded, false);
  assert.equal((preview as { seen: unknown }).seen, null);
});

test("a call that does not ask has no preview", async () => {
  let count = 0;
  const { deploy } = previewing(() => ++count);
  const config = { tools: { deploy }, permissions: [{ toolName: "deploy", policy: "allow" as const }] };
  await using allowed = await harness({ model: deployed(), ...config });
  await allowed.sendMessage({ content: "Ship it" });
  await using unattended = await harness({ model: deployed(), tools: { deploy }, onAsk: "decline" });
  await unattended.sendMessage({ content: "Ship it" });
  assert.equal(count, 0);
});
