/**
 * A store of your own: a text file with a JSON object in each line, checked by the conformance suite.
 *
 * It keeps everything in memory, as `memoryStore` does, and logs each call that changes something. Opening it replays these calls. It is
 * for one process at a time: another one would not see its changes. `sqliteStore` is for several.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Agent, CinchError, Harness, textOf } from "@cinch/core";
import { MemoryData, MemoryStore, type AppendOptions, type AppendResult, type StampedEvent } from "@cinch/core/store";
import { say, script, storeConformance } from "@cinch/testkit";

/** A call that changed something, and the store object on which it was made. `start`: a process opened the file. */
type Line =
  | { call: "start" }
  | { call: "append"; storeId: string; threadId: string; events: readonly StampedEvent[]; options: Options }
  | { call: "deleteThread"; storeId: string; threadId: string }
  | { call: "release"; storeId: string; threadId: string; epoch: number }
  | { call: "close"; storeId: string };
type Options = Omit<AppendOptions, "blobs"> & { blobs: { hash: string; base64: string }[] };

/** The file, and its contents in memory. Several store objects of a process may share it. */
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
    // A process that died during a write leaves an incomplete line. Its call was not answered, so the line is removed.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    await file.truncate(Buffer.byteLength(whole));
    await replay(whole.split("\n").slice(0, -1), this.data);
    await file.appendFile(`${JSON.stringify({ call: "start" })}\n`);
    return file;
  }

  /** Settles when the line is on disk. Lines that arrive during a sync share the next one. */
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

/** Replays the calls. The store objects of an ended process are dead: their leases can be taken. */
async function replay(lines: readonly string[], data: MemoryData): Promise<void> {
  const stores = new Map<string, MemoryStore>();
  const storeOf = (name: string) => stores.get(name) ?? stores.set(name, new MemoryStore(data)).get(name)!;
  const end = () => {
    for (const store of stores.values()) store.die();
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
        await storeOf(line.storeId).append(line.threadId, line.events, { ...line.options, blobs });
        break;
      }
      case "deleteThread":
        await storeOf(line.storeId).deleteThread(line.threadId);
        break;
      case "release":
        await storeOf(line.storeId).release(line.threadId, line.epoch);
        break;
      case "close":
        await storeOf(line.storeId).close();
    }
  }
  end();
}

/** Decides in memory, and answers when the line is on disk. Drafts and lease renewals are not written. */
class JsonLinesStore extends MemoryStore {
  /** The workspace denies tools and commands access to these. */
  readonly files: readonly string[];
  readonly #file: JsonLinesFile;
  readonly #storeId = randomUUID();
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
    await this.#write({ call: "close", storeId: this.#storeId });
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
    await this.#write({ call: "append", storeId: this.#storeId, threadId, events, options: { ...options, blobs } });
    return result;
  }

  override async deleteThread(threadId: string): Promise<void> {
    await super.deleteThread(threadId);
    await this.#write({ call: "deleteThread", storeId: this.#storeId, threadId });
  }

  override async release(threadId: string, epoch: number): Promise<void> {
    await super.release(threadId, epoch);
    if (this.#isOpen) await this.#write({ call: "release", storeId: this.#storeId, threadId, epoch });
  }

  async #write(line: Line): Promise<void> {
    try {
      await this.#file.write(line);
    } catch (cause) {
      // Memory is now ahead of the disk. Nothing more is accepted, and the next process starts from the disk.
      this.die();
      throw new CinchError(
        "STORE_FAILED",
        `${this.#file.path} can't be written. Free disk space, and start again.`,
        cause,
      );
    }
  }
}

// Simulates two processes, one after the other: the second one reads the messages of the first.
const path = "threads.jsonl";
for (const content of ["Hello", "And again"]) {
  const agent = new Agent({ name: "talker", model: script(say("Hello to you."), say("Hello for the second time.")) });
  const harness = new Harness({ id: "own-store", storage: new JsonLinesStore(new JsonLinesFile(path)), agent });
  await harness.sendMessage({ content });
  for (const message of await harness.listMessages()) console.log(`${message.role}: ${textOf(message.content)}`);
  await harness.close();
  console.log(`(closed; ${readFileSync(path, "utf8").trim().split("\n").length} lines in the file)`);
  appendFileSync(path, '{"call":"app'); // a line that a crash left incomplete
}

// Tests everything that a store must promise. `another` opens a second store on the same data, and `mortal` one that can be killed.
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
  const mortal = async () => {
    const store = await another();
    return { append: store.append.bind(store), kill: async () => store.die() };
  };
  const dispose = async () => {
    await Promise.all(stores.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  };
  return { store: await another(), another, mortal, dispose };
});
