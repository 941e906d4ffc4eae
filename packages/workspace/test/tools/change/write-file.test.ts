import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryData } from "@cinch/core/store";
import { memoryStore } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { fileDesk } from "../file-desk.ts";

const sha = (text: string | Uint8Array): string => createHash("sha256").update(text).digest("hex");
const NOT_READ =
  "a.txt exists and has not been read in this thread. Call read_file on it first, then repeat this call.";
const CHANGED =
  "a.txt has changed since this thread last read or wrote it, so nothing was done. Call read_file on it again, then repeat the change.";

test("a new file is created, with the directories above it", async () => {
  await using d = await fileDesk();
  assert.equal(
    await d.ok("write_file", { file_path: "src/lib/a.ts", content: "one\ntwo" }),
    "Created src/lib/a.ts (2 lines, 7 bytes).",
  );
  assert.equal(d.backend.text("/src/lib/a.ts"), "one\ntwo");
});

test("a file that exists and was not read is not overwritten", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  assert.equal(await d.fails("write_file", { file_path: "a.txt", content: "new" }), NOT_READ);
  assert.equal(d.backend.text("/a.txt"), "old");
  assert.deepEqual(d.changes, []);
});

test("a file that was read can be replaced, again and again", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  assert.equal(await d.ok("write_file", { file_path: "a.txt", content: "new\n" }), "Replaced a.txt (1 line, 4 bytes).");
  await d.ok("write_file", { file_path: "a.txt", content: "newer" });
  await d.ok("edit_file", { file_path: "a.txt", old_string: "newer", new_string: "newest" });
  assert.equal(d.backend.text("/a.txt"), "newest");
});

test("a file that was found empty can be filled", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  await d.ok("read_file", { file_path: "a.txt" });
  await d.ok("write_file", { file_path: "a.txt", content: "x" });
  assert.equal(d.backend.text("/a.txt"), "x");
});

test("a file that another program changed since it was read is not overwritten, until it is read again", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  d.backend.put("/a.txt", "somebody else's");
  assert.equal(await d.fails("write_file", { file_path: "a.txt", content: "new" }), CHANGED);
  assert.equal(d.backend.text("/a.txt"), "somebody else's");
  await d.ok("read_file", { file_path: "a.txt" });
  await d.ok("write_file", { file_path: "a.txt", content: "new" });
  d.backend.put("/a.txt", "old");
  assert.equal(await d.fails("write_file", { file_path: "a.txt", content: "newer" }), CHANGED);
  assert.equal(d.backend.text("/a.txt"), "old");
});

test("a file that is changed or created at the moment of the write is not overwritten", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  d.backend.hook = (operation, path) => {
    if (operation === "write") d.backend.put(path, "faster");
  };
  assert.equal(await d.fails("write_file", { file_path: "a.txt", content: "new" }), CHANGED);
  assert.match(await d.fails("write_file", { file_path: "b.txt", content: "new" }), /^b\.txt has changed since/);
  assert.equal(d.backend.text("/a.txt"), "faster");
  assert.equal(d.backend.text("/b.txt"), "faster");
});

test("contents that a file already has are not written again, and need no read", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "same\n" } });
  assert.equal(
    await d.ok("write_file", { file_path: "a.txt", content: "same\n" }),
    "a.txt holds exactly this already (1 line, 5 bytes).",
  );
  assert.deepEqual(d.changes, []);
  await d.ok("write_file", { file_path: "a.txt", content: "other" });
});

test("a directory can't be overwritten, and a file can't be used as a directory", async () => {
  await using d = await fileDesk({ files: { "/src/a.txt": "x" } });
  assert.match(await d.fails("write_file", { file_path: "src", content: "" }), /^src is a directory, not a file/);
  assert.match(await d.fails("write_file", { file_path: "src/a.txt/b.txt", content: "" }), /not a directory/);
});

test("every write is in the journal with the complete contents before it, and those after it", async () => {
  const storage = memoryStore();
  await using d = await fileDesk({ files: { "/a.txt": "old" }, storage });
  await d.ok("read_file", { file_path: "a.txt" });
  await d.ok("write_file", { file_path: "a.txt", content: "new!" });
  await d.ok("write_file", { file_path: "b.txt", content: "" });
  const [replaced, created] = d.changes.map(({ path, operation, before, after }) => ({
    path,
    operation,
    before,
    after,
  }));
  const before = { hash: sha("old"), size: 3, parts: [{ blob: sha("old"), size: 3 }] };
  assert.deepEqual(replaced, { path: "/a.txt", operation: "write", before, after: { hash: sha("new!"), size: 4 } });
  assert.deepEqual(created, { path: "/b.txt", operation: "write", before: null, after: { hash: sha(""), size: 0 } });
  assert.equal(Buffer.from((await storage.blob(sha("old")))!).toString(), "old");
  assert.deepEqual(Object.keys(d.harness.getDisplayState().modifiedFiles), ["/a.txt", "/b.txt"]);
});

test("old contents are kept in parts of at most 4 MiB, and those over 64 MiB not at all", async () => {
  const MiB = 1024 * 1024;
  const large = new Uint8Array(9 * MiB).map((_, at) => at % 251);
  const huge = new Uint8Array(64 * MiB + 1);
  const storage = memoryStore();
  await using d = await fileDesk({ files: { "/a.txt": large.fill(65, 0, 9_000), "/b.txt": huge.fill(65) }, storage });
  await d.ok("read_file", { file_path: "a.txt", limit: 1 });
  await d.ok("read_file", { file_path: "b.txt", limit: 1 });
  await d.ok("write_file", { file_path: "a.txt", content: "new" });
  const told = "Replaced b.txt (1 line, 3 bytes). What it held was too large to be kept: it can't be restored.";
  assert.equal(await d.ok("write_file", { file_path: "b.txt", content: "new" }), told);
  const [first, second] = d.changes.map(({ before }) => before);
  assert.deepEqual(
    first!.parts!.map(({ size }) => size),
    [4 * MiB, 4 * MiB, MiB],
  );
  const parts = await Promise.all(first!.parts!.map(async ({ blob }) => (await storage.blob(blob))!));
  assert.ok(Buffer.concat(parts).equals(large));
  assert.equal(first!.hash, sha(large));
  assert.deepEqual(second, { hash: sha(huge), size: huge.length });
});

for (const { name, open } of [
  { name: "in memory", open: (data: MemoryData) => memoryStore(data) },
  { name: "on disk", open: (_: MemoryData, path: string) => sqliteStore({ path }) },
]) {
  test(`a process that continues a thread knows what the thread has read, with a store ${name}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "cinch-tools-"));
    t.after(() => rm(folder, { recursive: true }));
    const data = new MemoryData();
    const path = join(folder, "cinch.db");
    const first = await fileDesk({ files: { "/a.txt": "old", "/b.txt": "old" }, storage: open(data, path) });
    await first.ok("read_file", { file_path: "a.txt" });
    await first.ok("write_file", { file_path: "c.txt", content: "1" });
    await first.harness.close();
    await using d = await fileDesk({ backend: first.backend, storage: open(data, path) });
    await d.harness.selectOrCreateThread();
    await d.ok("write_file", { file_path: "a.txt", content: "new" });
    await d.ok("edit_file", { file_path: "c.txt", old_string: "1", new_string: "2" });
    const write = { file_path: "b.txt", content: "new" };
    assert.match(await d.fails("write_file", write), /^b\.txt exists and has not been read/);
  });
}

test("half of a surrogate pair is refused: the file would hold another character", async () => {
  await using d = await fileDesk();
  assert.match(
    await d.fails("write_file", { file_path: "a.txt", content: "a \ud83d" }),
    /holds half of a surrogate pair/,
  );
  assert.deepEqual(d.changes, []);
});
