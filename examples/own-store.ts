/**
 * A store of your own: a text file with a JSON object in each line, checked by the conformance suite.
 *
 * It keeps everything in memory, as `memoryStore` does, and writes down each call that changed something. Opening it makes these calls
 * again. It is for one process at a time: another one would not see its lines. `sqliteStore` is for several.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  Agent,
  CinchError,
  Harness,
  MemoryData,
  MemoryStore,
  textOf,
  type AppendOptions,
  type AppendResult,
  type StampedEvent,
} from "@cinch/core";
import { say, script, storeConformance } from "@cinch/testkit";

/** A call that changed something, and the store object that it was made on. `start`: a process opened the file. */
type Line =
  | { call: "start" }
  | { call: "append"; seat: string; threadId: string; events: readonly StampedEvent[]; options: Options }
  | { call: "deleteThread"; seat: string; threadId: string }
  | { call: "release"; seat: string; threadId: string; epoch: number }
  | { call: "close"; seat: string };
type Options = Omit<AppendOptions, "blobs"> & { blobs: { hash: string; base64: string }[] };

/** The file, and in memory what it says. Several store objects of a process may share it. */
class JsonLinesFile {
  readonly path: string;
  readonly data = new MemoryData();
  #file: Promise<FileHandle> | undefined;
  #users = 0;
  #waiting: Line[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.path = resolve(path);
  }

  async open(): Promise<void> {
    this.#users++;
    await (this.#file ??= this.#load());
  }

  async close(): Promise<void> {
    if (--this.#users > 0) return;
    await (await this.#file)?.close();
  }

  async #load(): Promise<FileHandle> {
    const file = await open(this.path, "a+", 0o600);
    const text = await file.readFile("utf8");
    // A process that died while it wrote leaves half a line. No call was answered for that one: it is cut off.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    await file.truncate(Buffer.byteLength(whole));
    await replay(whole.split("\n").slice(0, -1), this.data);
    await file.appendFile(`${JSON.stringify({ call: "start" })}\n`);
    return file;
  }

  /** Settles when the line is on disk. Lines that come while others are being synced share the next sync. */
  write(line: Line): Promise<void> {
    this.#waiting.push(line);
    this.#written = this.#written.then(() => this.#flush());
    return this.#written;
  }

  async #flush(): Promise<void> {
    const lines = this.#waiting.splice(0).map((line) => `${JSON.stringify(line)}\n`);
    if (lines.length === 0) return;
    const file = await this.#file!;
    await file.appendFile(lines.join(""));
    await file.datasync();
  }
}

/** Makes the calls again. A store object of a process that is gone is dead: its leases can be taken. */
async function replay(lines: readonly string[], data: MemoryData): Promise<void> {
  const seats = new Map<string, MemoryStore>();
  const seatOf = (name: string) => seats.get(name) ?? seats.set(name, new MemoryStore(data)).get(name)!;
  const end = () => {
    for (const seat of seats.values()) seat.die();
  };
  for (const text of lines) {
    const line = JSON.parse(text) as Line;
    switch (line.call) {
      case "start":
        end();
        break;
      case "append": {
        const blobs = line.options.blobs.map(({ hash, base64 }) => ({
          hash,
          bytes: new Uint8Array(Buffer.from(base64, "base64")),
        }));
        await seatOf(line.seat).append(line.threadId, line.events, { ...line.options, blobs });
        break;
      }
      case "deleteThread":
        await seatOf(line.seat).deleteThread(line.threadId);
        break;
      case "release":
        await seatOf(line.seat).release(line.threadId, line.epoch);
        break;
      case "close":
        await seatOf(line.seat).close();
    }
  }
  end();
}

/** Decides in memory, at once; answers when the line is on disk. Drafts and signs of life need not be there. */
class JsonLinesStore extends MemoryStore {
  /** Told to the workspace, so that no tool and no command touches it. */
  readonly files: readonly string[];
  readonly #file: JsonLinesFile;
  readonly #seat = randomUUID();
  #isOpen = false;

  constructor(file: JsonLinesFile) {
    super(file.data);
    this.#file = file;
    this.files = [file.path];
  }

  override async open(): Promise<void> {
    await this.#file.open();
    await super.open();
    this.#isOpen = true;
  }

  override async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await super.close();
    await this.#write({ call: "close", seat: this.#seat });
    await this.#file.close();
  }

  override async append(
    threadId: string,
    events: readonly StampedEvent[],
    options: AppendOptions,
  ): Promise<AppendResult> {
    const result = await super.append(threadId, events, options);
    if (result.kind !== "appended") return result;
    const blobs = (options.blobs ?? []).map(({ hash, bytes }) => ({
      hash,
      base64: Buffer.from(bytes).toString("base64"),
    }));
    await this.#write({ call: "append", seat: this.#seat, threadId, events, options: { ...options, blobs } });
    return result;
  }

  override async deleteThread(threadId: string): Promise<void> {
    await super.deleteThread(threadId);
    await this.#write({ call: "deleteThread", seat: this.#seat, threadId });
  }

  override async release(threadId: string, epoch: number): Promise<void> {
    await super.release(threadId, epoch);
    if (this.#isOpen) await this.#write({ call: "release", seat: this.#seat, threadId, epoch });
  }

  async #write(line: Line): Promise<void> {
    try {
      await this.#file.write(line);
    } catch (cause) {
      // Memory is ahead of the disk now. Nothing more is accepted; the next process begins with what is on disk.
      this.die();
      throw new CinchError("STORE_FAILED", `${this.#file.path} can't be written. Make room, and start again.`, cause);
    }
  }
}

// Two processes, one after the other: the second one finds what the first one said.
const path = "threads.jsonl";
for (const content of ["Hello", "And again"]) {
  const agent = new Agent({ name: "talker", model: script(say("Hello to you."), say("Hello for the second time.")) });
  const harness = new Harness({ id: "own-store", storage: new JsonLinesStore(new JsonLinesFile(path)), agent });
  await harness.sendMessage({ content });
  for (const message of await harness.listMessages()) console.log(`${message.role}: ${textOf(message.content)}`);
  await harness.close();
  console.log(`(closed; ${readFileSync(path, "utf8").trim().split("\n").length} lines in the file)`);
  appendFileSync(path, '{"call":"app'); // a line that was cut off by a crash
}

// Everything that a store has to promise, as a test each. `another` is a second store object on the same data.
storeConformance("a file of JSON lines", async () => {
  const folder = mkdtempSync(join(tmpdir(), "own-store-"));
  const file = new JsonLinesFile(join(folder, "threads.jsonl"));
  const stores: JsonLinesStore[] = [];
  const another = async () => {
    const store = new JsonLinesStore(file);
    await store.open();
    stores.push(store);
    return store;
  };
  const dispose = async () => {
    await Promise.all(stores.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  };
  return { store: await another(), another, dispose };
});
