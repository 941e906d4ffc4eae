import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createReadStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { promisify } from "node:util";
import { sqliteStore } from "@cinch/sqlite";
import { Place } from "./place.ts";

const run = promisify(execFile);

interface Write {
  at: number;
  bytes: Buffer;
}

/** A model of a disk: synced writes are certain, and a power loss may keep any part of the others, in any order. */
class Disk {
  readonly #synced = new Map<string, Write[]>();
  readonly #unsynced = new Map<string, Write[]>();

  write(file: string, write: Write): void {
    this.#unsynced.set(file, [...(this.#unsynced.get(file) ?? []), write]);
  }

  sync(file: string): void {
    this.#synced.set(file, [...(this.#synced.get(file) ?? []), ...(this.#unsynced.get(file) ?? [])]);
    this.#unsynced.delete(file);
  }

  /** Writes the files as they are after a power loss. `keeps` decides for each unsynced write whether it reached the disk. */
  losePower(folder: string, keeps: () => boolean): void {
    mkdirSync(folder);
    for (const file of new Set([...this.#synced.keys(), ...this.#unsynced.keys()])) {
      const writes = [...(this.#synced.get(file) ?? []), ...(this.#unsynced.get(file) ?? []).filter(keeps)];
      const image = Buffer.alloc(Math.max(0, ...writes.map(({ at, bytes }) => at + bytes.length)));
      for (const { at, bytes } of writes) bytes.copy(image, at);
      writeFileSync(join(folder, file), image);
    }
  }
}

/** What strace recorded: a write to one of our files, a sync of one, or an answer. */
type Call = { kind: "write"; file: string; write: Write } | { kind: "sync"; file: string } | { kind: "answer" };

const WRITE = /pwrite64\(\d+<([^>]*)>, "((?:\\x[0-9a-f]{2})*)", \d+, (\d+)/;
const SYNC = /f(?:data)?sync\(\d+<([^>]*)>/;
const ANSWER = Buffer.from("answered").toString("hex").replaceAll(/../g, "\\x$&");

async function* calls(trace: string): AsyncGenerator<Call> {
  for await (const line of createInterface({ input: createReadStream(trace) })) {
    const [, to = "", data = "", at = "0"] = WRITE.exec(line) ?? [];
    const [, synced = ""] = SYNC.exec(line) ?? [];
    const file = basename(unhex(to || synced).toString());
    // The rollback journal of a new file is deleted before the first answer, and the index of the log is rebuilt from the log.
    const isKept = file === "cinch.db" || file === "cinch.db-wal";
    if (!isKept && !line.includes(ANSWER)) continue;
    if (to && isKept) yield { kind: "write", file, write: { at: Number(at), bytes: unhex(data) } };
    if (synced && isKept) yield { kind: "sync", file };
    if (line.includes(ANSWER)) yield { kind: "answer" };
  }
}

/** With `-xx` strace prints everything in hexadecimal, including file names. */
const unhex = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex");

test(
  "after a power loss every append that was answered exists, whichever unsynced writes reached the disk",
  { timeout: 300_000 },
  async (t) => {
    await using place = new Place();
    try {
      await run("strace", ["-V"]);
    } catch {
      return t.skip("strace is not installed");
    }
    const trace = join(place.folder, "trace");
    const program = join(import.meta.dirname, "programs/appender.ts");
    const what = ["-f", "-y", "-xx", "-s", "100000", "-o", trace, "-e", "trace=pwrite64,fdatasync,fsync,write"];
    await run("strace", [...what, process.execPath, "-C", "@cinch/source", program, place.path], { maxBuffer: 1e8 });

    const disk = new Disk();
    let answered = 0;
    let checkpointed = 0;
    let cuts = 0;
    let writes = 0;
    for await (const call of calls(trace)) {
      if (call.kind === "write") disk.write(call.file, call.write);
      else if (call.kind === "sync") disk.sync(call.file);
      else answered++;
      if (call.kind === "write" && call.file === "cinch.db" && answered > 0 && answered < 20) checkpointed++;
      writes = call.kind === "answer" ? 0 : writes + 1;
      // A large draft has many writes: a sample of them is enough.
      if (call.kind === "sync" || answered === 0 || (writes > 4 && writes % 150 > 0)) continue;
      // The power is lost here: once with no unsynced write kept, once with some of them.
      for (const keeps of [() => false, () => ++cuts % 2 === 0]) {
        const folder = join(place.folder, `cut-${cuts++}`);
        disk.losePower(folder, keeps);
        const store = sqliteStore({ path: join(folder, "cinch.db") });
        await store.open();
        const events = await store.read("t");
        await store.close();
        rmSync(folder, { recursive: true });
        assert.ok(events.length >= answered + 2, `${answered} appends were answered, and ${events.length - 2} exist`);
      }
    }
    assert.equal(answered, 20);
    assert.ok(checkpointed > 100, "there was no checkpoint of the log");
  },
);
