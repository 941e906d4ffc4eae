import assert from "node:assert/strict";
import { test } from "node:test";
import type { Harness, HarnessEvent } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { say, scriptedBy } from "@cinch/testkit";
import { harness } from "../support.ts";

const model = () => scriptedBy(() => say("ok"));

/** The `seq` after each of three turns. */
async function threeTurns(h: Harness): Promise<[number, number, number]> {
  const seqs: number[] = [];
  for (const content of ["one", "two", "three"]) {
    await h.sendMessage({ content });
    seqs.push(h.getDisplayState().seq);
  }
  return seqs as [number, number, number];
}

test("a subscriber that returns with an event that was reverted is told to resync, also after a rewind to a reverted one", async () => {
  const data = new MemoryData();
  const storage = new MemoryStore(data);
  const before = await harness({ model: model(), storage });
  const { id: threadId } = await before.createThread();
  const [first, second, third] = await threeTurns(before);
  await before.rewind({ toSeq: first });
  await before.close();
  // An earlier release accepted this rewind.
  const events = await new MemoryStore(data).read(threadId);
  const { seq: afterSeq, threadId: _, ...rewound } = events.find(({ type }) => type === "thread_rewound")!;
  const writer = new MemoryStore(data);
  const { epoch } = await writer.lease(threadId);
  const again = { ...rewound, toSeq: third } as Parameters<MemoryStore["append"]>[1][number];
  const appended = await writer.append(threadId, [again], { afterSeq, take: epoch, release: true });
  assert.equal(appended.kind, "appended");
  await using h = await harness({ model: model(), storage: new MemoryStore(data) });
  await h.switchThread({ threadId });
  assert.equal((await h.listMessages()).length, 2);
  const firstEvent = async (since: number) => {
    const got = Promise.withResolvers<HarnessEvent>();
    const off = h.subscribe(got.resolve, { since });
    const event = await got.promise;
    off();
    return event.type;
  };
  assert.equal(await firstEvent(first), "thread_rewound");
  for (const since of [first + 1, second, third, afterSeq]) assert.equal(await firstEvent(since), "resync", `${since}`);
});

test("neither a rewind of the conversation nor a clone takes the seq of an event that a rewind has reverted", async () => {
  await using h = await harness({ model: model() });
  await h.createThread();
  const [first, second, third] = await threeTurns(h);
  await h.rewind({ toSeq: first });
  const refused = { code: "INVALID_INPUT", message: /which a rewind has reverted/ };
  for (const seq of [first + 1, second, third]) {
    await assert.rejects(h.rewind({ toSeq: seq }), refused);
    await assert.rejects(h.rewind({ toSeq: seq, dryRun: true }), refused);
    await assert.rejects(h.cloneThread({ atSeq: seq }), refused);
  }
  await h.rewind({ toSeq: first - 1 });
  await h.cloneThread({ atSeq: 1 });
});
