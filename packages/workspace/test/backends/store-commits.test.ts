import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryData, MemoryStore, type AppendOptions } from "@cinch/core/store";
import { storeBackend } from "@cinch/workspace";
import { reach } from "../temporary-folder.ts";
import { hostOn } from "./journal-backends.ts";

class CountingStore extends MemoryStore {
  readonly appends: AppendOptions[] = [];

  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    this.appends.push(args[2]);
    // As long as a disk takes.
    await sleep(5);
    return super.append(...args);
  }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

test("files that are written into a store at once share commits, and wait for no lease", async () => {
  const storage = new CountingStore(new MemoryData());
  const { host, harness } = await hostOn(storage);
  const backend = storeBackend();
  await backend.open?.(host);
  const paths = Array.from({ length: 20 }, (_, at) => `/${at}.txt`);
  await Promise.all(paths.map((path) => backend.write(path, bytesOf(path), {}, reach)));
  const written = (await backend.list("/", reach)).map(({ path }) => path);
  assert.deepEqual(written.toSorted(), paths.toSorted());
  assert.ok(storage.appends.length <= 10, `${storage.appends.length} appends`);
  assert.deepEqual(
    storage.appends.filter(({ take, epoch }) => take !== undefined || epoch !== undefined),
    [],
  );
  await harness.close();
});
