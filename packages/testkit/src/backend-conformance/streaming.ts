import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type BackendCheck, type Files } from "./files.ts";

const MB = 1024 * 1024;
/** How much memory a file of any size may take while it is streamed. */
const MAX_GROWTH_MB = 24;

export function streaming(check: BackendCheck): void {
  check("a file of 64 MB is written and read as a stream, in constant memory", async (files, { inMemory }) => {
    await passThrough(files, { megabytes: 64, limited: !inMemory });
  });

  // Needs much time and disk space, so it runs only with CINCH_LARGE_FILES=1.
  if (process.env["CINCH_LARGE_FILES"] !== undefined)
    check("a file of 1 GB is written and read as a stream, in constant memory", async (files, { inMemory }) => {
      if (!inMemory) await passThrough(files, { megabytes: 1024, limited: true });
    });

  check("the end of a large file is read without its beginning", async (files) => {
    await files.backend.write(
      "/large",
      generated(16, () => {}),
      {},
      files.reach,
    );
    const start = performance.now();
    for (let turn = 0; turn < 50; turn++) {
      const tail = await files.bytes("/large", { start: 16 * MB - 10 });
      assert.equal(tail.length, 10);
    }
    assert.ok(performance.now() - start < 30_000);
  });
}

async function passThrough(
  files: Files,
  { megabytes, limited }: { megabytes: number; limited: boolean },
): Promise<void> {
  const [sent, received] = [createHash("sha256"), createHash("sha256")];
  const memory = new Memory();
  const content = generated(megabytes, (chunk) => {
    sent.update(chunk);
    memory.sample();
  });
  const { size } = await files.backend.write("/folder/large", content, {}, files.reach);
  assert.equal(size, megabytes * MB);
  let length = 0;
  for await (const chunk of files.backend.read("/folder/large", {}, files.reach)) {
    received.update(chunk);
    length += chunk.length;
    memory.sample();
  }
  assert.equal(length, megabytes * MB);
  assert.equal(received.digest("hex"), sent.digest("hex"));
  if (limited) assert.ok(memory.grownMb < MAX_GROWTH_MB, `${memory.grownMb} MB were held`);
}

async function* generated(megabytes: number, each: (chunk: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < megabytes * 4; at++) {
    const chunk = Buffer.alloc(MB / 4, `chunk ${at} of a file that is only streamed\n`);
    each(chunk);
    yield chunk;
  }
}

/** Measures memory after a garbage collection, so that only what is still held counts. */
class Memory {
  readonly #collect: () => void;
  readonly #before: number;
  #samples = 0;
  #most: number;

  constructor() {
    setFlagsFromString("--expose-gc");
    this.#collect = runInNewContext("gc") as () => void;
    this.#before = this.#most = this.#held();
  }

  get grownMb(): number {
    return Math.round((this.#most - this.#before) / MB);
  }

  sample(): void {
    if (++this.#samples % 128 === 0) this.#most = Math.max(this.#most, this.#held());
  }

  #held(): number {
    // The second collection waits for the memory that the first one frees in the background.
    this.#collect();
    this.#collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  }
}
