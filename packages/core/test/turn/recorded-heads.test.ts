import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, script } from "@cinch/testkit";
import { RecordedHeads } from "../../src/turn/recorded-heads.ts";
import { harness } from "../support.ts";

/** A store that notes which blobs are read. */
function notingStore(data: MemoryData) {
  const read: string[] = [];
  const storage = memoryStore(data);
  const blob = storage.blob.bind(storage);
  storage.blob = (hash) => {
    read.push(hash);
    return blob(hash);
  };
  return { storage, read };
}

const headOf = (name: string) => ({ system: `You are ${name}.`, tools: [] });

describe("the head of a prompt", () => {
  test("is read from the store once in a process, however many turns have it", async () => {
    const data = new MemoryData();
    const before = notingStore(data);
    await using first = await harness({ model: script(say("one"), say("two")), storage: before.storage });
    const { id: threadId } = await first.createThread();
    for (const content of ["1", "2"]) await first.sendMessage({ content });
    assert.deepEqual(before.read, []);
    await first.close();

    const after = notingStore(data);
    await using second = await harness({ model: script(say("three"), say("four")), storage: after.storage });
    await second.switchThread({ threadId });
    for (const content of ["3", "4"]) await second.sendMessage({ content });
    assert.equal(after.read.length, 1);
  });

  test("is read again when sixteen others were used since then", async () => {
    const read: string[] = [];
    const blob = async (hash: string) => {
      read.push(hash);
      return new TextEncoder().encode(JSON.stringify(headOf(hash)));
    };
    const heads = new RecordedHeads({ blob });
    const names = Array.from({ length: 17 }, (_, at) => `agent-${at}`);
    heads.add(names[0]!, headOf(names[0]!));
    for (const name of names.slice(1, 16)) await heads.get(name);
    assert.deepEqual(await heads.get(names[0]!), headOf(names[0]!));
    await heads.get(names[16]!);
    read.length = 0;
    for (const name of [names[0]!, names[1]!]) assert.deepEqual(await heads.get(name), headOf(name));
    assert.deepEqual(read, [names[1]]);
  });

  test("that the store has lost is CORRUPT", async () => {
    const heads = new RecordedHeads({ blob: async () => undefined });
    await assert.rejects(heads.get("lost"), { code: "CORRUPT" });
  });
});
