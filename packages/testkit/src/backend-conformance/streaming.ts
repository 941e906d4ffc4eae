import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Check, type Files } from "./sample.ts";

const MB = 1024 * 1024;
/** What a file of any size may take on its way. */
const FLAT_MB = 24;

export function streaming(check: Check): void {
  check("a file of 64 MB goes in and out as a stream, in flat memory", async (files, { inMemory }) => {
    await passThrough(files, { megabytes: 64, flat: !inMemory });
  });

  // It takes its time, and disk: CINCH_LARGE_FILES=1 asks for it.
  if (process.env["CINCH_LARGE_FILES"] !== undefined)
    check("a file of 1 GB does so too", async (files, { inMemory }) => {
      if (!inMemory) await passThrough(files, { megabytes: 1024, flat: true });
    });

  check("the end of a large file is read without its beginning", async (files) => {
    await files.backend.write(
      "/large",
      generated(16, () => {}),
      {},
      files.reach,
    );
    const begun = performance.now();
    for (let turn = 0; turn < 50; turn++) {
      const tail = await files.bytes("/large", { start: 16 * MB - 10 });
      assert.equal(tail.length, 10);
    }
    assert.ok(performance.now() - begun < 2_000);
  });
}

async function passThrough(files: Files, { megabytes, flat }: { megabytes: number; flat: boolean }): Promise<void> {
  const [sent, received] = [createHash("sha256"), createHash("sha256")];
  const memory = new Memory();
  const content = generated(megabytes, (chunk) => {
    sent.update(chunk);
    memory.look();
  });
  const { size } = await files.backend.write("/folder/large", content, {}, files.reach);
  assert.equal(size, megabytes * MB);
  let length = 0;
  for await (const chunk of files.backend.read("/folder/large", {}, files.reach)) {
    received.update(chunk);
    length += chunk.length;
    memory.look();
  }
  assert.equal(length, megabytes * MB);
  assert.equal(received.digest("hex"), sent.digest("hex"));
  if (flat) assert.ok(memory.grownMb < FLAT_MB, `${memory.grownMb} MB were held`);
}

async function* generated(megabytes: number, each: (chunk: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < megabytes * 4; at++) {
    const chunk = Buffer.alloc(MB / 4, `chunk ${at} of a file that nobody holds\n`);
    each(chunk);
    yield chunk;
  }
}

/** What is held, not what waits to be collected: so it is collected before it is measured. */
class Memory {
  readonly #collect: () => void;
  readonly #before: number;
  #looks = 0;
  #most: number;

  constructor() {
    setFlagsFromString("--expose-gc");
    this.#collect = runInNewContext("gc") as () => void;
    this.#before = this.#most = this.#held();
  }

  get grownMb(): number {
    return Math.round((this.#most - this.#before) / MB);
  }

  look(): void {
    if (++this.#looks % 64 === 0) this.#most = Math.max(this.#most, this.#held());
  }

  #held(): number {
    // The second waits for what the first has left to be freed meanwhile.
    this.#collect();
    this.#collect();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  }
}
