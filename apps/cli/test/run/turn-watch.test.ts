import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, type HarnessEvent, type Store } from "@cinch/core";
import type { Lease } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { TurnWatch } from "../../src/run/turn-watch.ts";

const free: Lease = { epoch: 1, status: "free" };

/** A turn that works until `finish`, and a watch that reads leases by `lease`. */
async function working(lease: (real: () => Promise<Lease>) => Promise<Lease>) {
  const began = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const work = defineTool({
    description: "Works",
    input: z.object({}),
    execute: async () => {
      began.resolve();
      await finish.promise;
      return "done";
    },
  });
  const storage = memoryStore();
  const agent = new Agent({ name: "worker", model: script(call("work"), say("ok")), tools: { work } });
  const harness = new Harness({ id: "t", agent, storage, permissions: [{ category: "other", policy: "allow" }] });
  const session = await harness.createSession();
  const turn = session.sendMessage({ content: "go" });
  await began.promise;
  const watched = { lease: (id: string) => lease(() => storage.lease(id)) } as unknown as Store;
  const watch = new TurnWatch(session, watched);
  watch.handle({ type: "info", threadId: session.getCurrentThreadId()!, at: 0, message: "no driver" } as HarnessEvent);
  return { watch, turn, finish, [Symbol.asyncDispose]: () => harness.close() };
}

test("a run goes on if its thread is without a driver for a moment, as between two turns", async () => {
  let looks = 0;
  const lookedAgain = Promise.withResolvers<void>();
  await using at = await working((real) => {
    if (++looks === 1) return Promise.resolve(free);
    lookedAgain.resolve();
    return real();
  });
  await lookedAgain.promise;
  at.finish.resolve();
  at.watch.until(at.turn);
  assert.deepEqual(await at.watch.end, { kind: "ended", reason: "complete" });
});

test("a run ends with the last notice if its turn stays without a driver", async () => {
  await using at = await working(() => Promise.resolve(free));
  assert.deepEqual(await at.watch.end, { kind: "failed", message: "no driver" });
  at.finish.resolve();
  await at.turn;
});
