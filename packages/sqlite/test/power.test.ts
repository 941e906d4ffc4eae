import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createReadStream, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { promisify } from "node:util";
import { sqliteStore } from "@cinch/sqlite";
import { Place } from "./support.ts";

const run = promisify(execFile);

interface Write {
  at: number;
  bytes: Buffer;
}

/** A file as the disk has it: what was synced is there for certain, of the rest a power cut may keep any part, in any order. */
class Disk {
  readonly #synced = new Map<string, Write[]>();
  readonly #floating = new Map<string, Write[]>();

  write(file: string, write: Write): void {
    this.#floating.set(file, [...(this.#floating.get(file) ?? []), write]);
  }

  sync(file: string): void {
    this.#synced.set(file, [...(this.#synced.get(file) ?? []), ...(this.#floating.get(file) ?? [])]);
    this.#floating.delete(file);
  }

  /** The files after a power cut. `keeps` decides for each write that was not synced whether it made it to the disk. */
  cut(folder: string, keeps: () => boolean): void {
    mkdirSync(folder);
    for (const file of new Set([...this.#synced.keys(), ...this.#floating.keys()])) {
      const writes = [...(this.#synced.get(file) ?? []), ...(this.#floating.get(file) ?? []).filter(keeps)];
      const image = Buffer.alloc(Math.max(0, ...writes.map(({ at, bytes }) => at + bytes.length)));
      for (const { at, bytes } of writes) bytes.copy(image, at);
      writeFileSync(join(folder, file), image);
    }
  }
}

/** What strace saw: a write to one of our files, a sync of one, or an answer. */
type Call = { kind: "write"; file: string; write: Write } | { kind: "sync"; file: string } | { kind: "answer" };

const WRITE = /pwrite64\(\d+<([^>]*)>, "((?:\\x[0-9a-f]{2})*)", \d+, (\d+)/;
const SYNC = /f(?:data)?sync\(\d+<([^>]*)>/;
const ANSWER = Buffer.from("answered").toString("hex").replaceAll(/../g, "\\x$&");

async function* calls(trace: string): AsyncGenerator<Call> {
  for await (const line of createInterface({ input: createReadStream(trace) })) {
    const [, to = "", data = "", at = "0"] = WRITE.exec(line) ?? [];
    const [, synced = ""] = SYNC.exec(line) ?? [];
    const file = basename(unhex(to || synced).toString());
    // The journal that a new file begins with is gone before there is an answer; the log's index is rebuilt from the log.
    const isKept = file === "cinch.db" || file === "cinch.db-wal";
    if (!isKept && !line.includes(ANSWER)) continue;
    if (to && isKept) yield { kind: "write", file, write: { at: Number(at), bytes: unhex(data) } };
    if (synced && isKept) yield { kind: "sync", file };
    if (line.includes(ANSWER)) yield { kind: "answer" };
  }
}

/** With `-xx` everything is in hexadecimal, names of files too. */
const unhex = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex");

test(
  "whatever a power cut leaves of what was not synced, everything that was answered is there",
  { timeout: 300_000 },
  async (t) => {
    await using place = new Place();
    try {
      await run("strace", ["-V"]);
    } catch {
      return t.skip("strace is not installed, and only it shows what the disk is told");
    }
    const trace = join(place.folder, "trace");
    const program = join(import.meta.dirname, "answers.ts");
    const what = ["-f", "-y", "-xx", "-s", "100000", "-o", trace, "-e", "trace=pwrite64,fdatasync,fsync,write"];
    await run("strace", [...what, process.execPath, "-C", "@cinch/source", program, place.path], { maxBuffer: 1e8 });

    const disk = new Disk();
    let answered = 0;
    let moved = 0;
    let cuts = 0;
    let writes = 0;
    for await (const call of calls(trace)) {
      if (call.kind === "write") disk.write(call.file, call.write);
      else if (call.kind === "sync") disk.sync(call.file);
      else answered++;
      if (call.kind === "write" && call.file === "cinch.db" && answered > 0 && answered < 20) moved++;
      writes = call.kind === "answer" ? 0 : writes + 1;
      // Of the many writes of a large draft, some will do.
      if (call.kind === "sync" || answered === 0 || (writes > 4 && writes % 150 > 0)) continue;
      // The power goes here: with all that floats lost, and with some of it kept.
      for (const keeps of [() => false, () => ++cuts % 2 === 0]) {
        const folder = join(place.folder, `cut-${cuts++}`);
        disk.cut(folder, keeps);
        const store = sqliteStore({ path: join(folder, "cinch.db") });
        await store.open();
        const events = await store.read("t");
        await store.close();
        rmSync(folder, { recursive: true });
        assert.ok(events.length >= answered + 2, `${answered} were answered, and ${events.length - 2} are there`);
      }
    }
    assert.equal(answered, 20);
    assert.ok(moved > 100, "the log was never moved into the file");
  },
);
