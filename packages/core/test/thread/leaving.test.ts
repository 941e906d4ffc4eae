import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { harness, noting } from "../support.ts";

/** Calls back after the `nth` call of the store, before its result is returned. */
class CountingStore extends MemoryStore {
  asked = 0;
  nth = Infinity;
  reached = () => {};

  override append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    return this.#count(super.append(...args));
  }
  override read(...args: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    return this.#count(super.read(...args));
  }
  override lease(...args: Parameters<MemoryStore["lease"]>): ReturnType<MemoryStore["lease"]> {
    return this.#count(super.lease(...args));
  }
  override release(...args: Parameters<MemoryStore["release"]>): ReturnType<MemoryStore["release"]> {
    return this.#count(super.release(...args));
  }
  override draft(...args: Parameters<MemoryStore["draft"]>): ReturnType<MemoryStore["draft"]> {
    return this.#count(super.draft(...args));
  }

  async #count<T>(answer: Promise<T>): Promise<T> {
    const result = await answer;
    if (++this.asked === this.nth) this.reached();
    return result;
  }
}

for (const policy of ["allow", "ask"] as const)
  test(`at whatever call of the store a process closes, each call runs once and keeps its result (${policy})`, async () => {
    for (let nth = 1, isOver = false; !isOver; nth++) {
      const data = new MemoryData();
      const storage = new CountingStore(data);
      const { note, runs } = noting();
      const model = () => script(call(["note", { what: "a" }, "a"], ["note", { what: "b" }, "b"]), say("done"));
      const config = { tools: { note }, permissions: [{ category: "other" as const, policy }] };
      await using leaving = await harness({ ...config, storage, model: model() });
      const { id: threadId } = await leaving.createThread();
      await leaving.post({ content: "go", delivery: "send" });
      Object.assign(storage, { asked: 0, nth });
      let left: Promise<void> | undefined;
      storage.reached = () => (left = leaving.close());
      // Commands that fail because the harness is closed are left to the next process.
      await approveAll(leaving).catch(() => undefined);
      isOver = left === undefined;
      await (left ?? leaving.close());
      await using next = await harness({ ...config, storage: new MemoryStore(data), model: model() });
      await next.switchThread({ threadId });
      await approveAll(next);
      const ends = (await next.listMessages()).flatMap(({ outcomes }) => Object.entries(outcomes));
      const results = ends.map(([id, { result, unknown }]) => [id, result.content, unknown]).toSorted();
      assert.deepEqual(
        results,
        [
          ["a", "noted a", false],
          ["b", "noted b", false],
        ],
        `left at ${nth}`,
      );
      assert.equal(runs.length, 2, `left at ${nth}`);
    }
  });

async function approveAll(h: Awaited<ReturnType<typeof harness>>): Promise<void> {
  for (let rest = await h.settled(); rest.status === "waiting"; rest = await h.settled())
    await h.respondToToolApproval({ decision: "approve" });
}
