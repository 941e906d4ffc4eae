import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "@cinch/core";
import { FileError } from "@cinch/workspace";
import { fileDesk, pathRules } from "../file-desk.ts";

test("a file is deleted, and the journal keeps its contents", async () => {
  const storage = memoryStore();
  await using d = await fileDesk({ files: { "/src/a.ts": "old" }, storage });
  assert.equal(await d.ok("delete", { file_path: "src/a.ts" }), "Deleted src/a.ts (3 bytes).");
  assert.equal(d.backend.text("/src/a.ts"), undefined);
  const [{ path, operation, before, after } = { path: "" }] = d.changes;
  assert.deepEqual({ path, operation, after }, { path: "/src/a.ts", operation: "delete", after: null });
  assert.equal(Buffer.from((await storage.blob(before!.parts![0]!.blob))!).toString(), "old");
});

test("a directory is deleted with everything in it, and each file is in the journal", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "1", "/src/lib/.b": "22", "/other/c.ts": "" } });
  assert.equal(await d.ok("delete", { file_path: "src" }), "Deleted src with 2 files (3 bytes).");
  assert.deepEqual([...d.backend.files.keys()], ["/other/c.ts"]);
  assert.deepEqual(d.changes.map(({ path }) => path).toSorted(), ["/src/a.ts", "/src/lib/.b"]);
});

test("a deleted file can be created again without a read", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "old" } });
  await d.ok("read_file", { file_path: "a.txt" });
  await d.ok("delete", { file_path: "a.txt" });
  await d.ok("write_file", { file_path: "a.txt", content: "new" });
  d.backend.put("/a.txt", "newer");
  assert.match(await d.fails("write_file", { file_path: "a.txt", content: "x" }), /has changed since/);
});

test("a missing file and the root are errors that say what to do", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "" } });
  assert.match(
    await d.fails("delete", { file_path: "b.txt" }),
    /^There is no file or directory b\.txt\..*Call ls on \./,
  );
  assert.match(await d.fails("delete", { file_path: "/" }), /^The root of the workspace can't be deleted/);
  assert.match(await d.fails("delete", { file_path: "src/.." }), /^The root of the workspace can't be deleted/);
});

test("a directory that is named like a file has to be named as a directory", async () => {
  await using d = await fileDesk({ files: { "/v1.2/a": "" } });
  assert.match(await d.fails("delete", { file_path: "v1.2" }), /call delete with "v1\.2\/"\.$/);
  assert.equal(await d.ok("delete", { file_path: "v1.2/" }), "Deleted v1.2 with 1 file (0 bytes).");
});

test("a directory that contains a protected file is not deleted", async () => {
  const rules = pathRules(
    ["write", "/src/**/*.key", "deny"],
    ["write", "/docs/secret/*", "ask"],
    ["read", "/src/x/*", "deny"],
  );
  await using d = await fileDesk({
    files: { "/src/a.ts": "", "/src/lib/b.key": "", "/src/x/c.key": "", "/docs/secret/a": "" },
    rules,
  });
  assert.equal(
    await d.fails("delete", { file_path: "src" }),
    "src holds 2 files that a rule protects: src/lib/b.key. Nothing was deleted. Delete what you need to one by one.",
  );
  assert.match(
    await d.fails("delete", { file_path: "docs" }),
    /^docs holds 1 file that a rule protects: docs\/secret\/a/,
  );
  assert.equal(d.backend.files.size, 4);
  assert.deepEqual(d.changes, []);
});

test("a directory with too many files is not deleted, and the result says so", async () => {
  const files = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`/big/${at}`, ""]));
  await using d = await fileDesk({ files });
  assert.match(await d.fails("delete", { file_path: "big" }), /^big holds more than 2000 files/);
  assert.equal(d.backend.files.size, 2_001);
});

test("a file that is too large to keep is deleted, and the result says that it is lost", async () => {
  const files = { "/big/a": new Uint8Array(40 * 2 ** 20), "/big/b": new Uint8Array(40 * 2 ** 20), "/big/c": "x" };
  await using d = await fileDesk({ files });
  assert.equal(
    await d.ok("delete", { file_path: "big" }),
    "Deleted big with 3 files (83886081 bytes). 1 of them can't be restored: links, and what is over 67108864 bytes, are not kept.",
  );
  assert.deepEqual(
    d.changes.map(({ before }) => before!.parts !== undefined),
    [true, false, true],
  );
});

test("a link is deleted without being followed", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "1", "/other/b.ts": "2" } });
  d.backend.links.set("/src/link", "/other").set("/lost", "/nowhere");
  assert.equal(
    await d.ok("delete", { file_path: "src" }),
    "Deleted src with 2 files (1 byte). 1 of them can't be restored: links, and what is over 67108864 bytes, are not kept.",
  );
  assert.match(await d.ok("delete", { file_path: "lost" }), /^Deleted lost \(0 bytes\)\. It can't be restored/);
  assert.deepEqual([...d.backend.files.keys()], ["/other/b.ts"]);
  assert.deepEqual(
    d.changes.map(({ path, before }) => [path, before!.parts !== undefined]),
    [
      ["/src/a.ts", true],
      ["/src/link", false],
      ["/lost", false],
    ],
  );
});

test("after a failed delete, the journal says that the files are unchanged", async () => {
  await using d = await fileDesk({ files: { "/src/a": "1", "/src/b": "2" } });
  await d.ok("read_file", { file_path: "src/a" });
  d.backend.hook = (operation) => {
    if (operation !== "delete") return;
    d.backend.files.delete("/src/b");
    throw new FileError("failed", "/src", "src: the disk is on fire");
  };
  assert.equal(await d.fails("delete", { file_path: "src" }), "src: the disk is on fire");
  const told = d.changes.map(({ path, operation, before, after }) => [
    path,
    operation,
    before?.size,
    after?.size ?? null,
  ]);
  assert.deepEqual(told, [
    ["/src/a", "delete", 1, null],
    ["/src/b", "delete", 1, null],
    ["/src/a", "restore", 1, 1],
  ]);
  await d.ok("write_file", { file_path: "src/a", content: "new" });
});

test("an edit and the deletion of the directory above it run one after the other", async () => {
  await using d = await fileDesk({ files: { "/src/a.ts": "one" } });
  await d.ok("read_file", { file_path: "src/a.ts" });
  const [edited, deleted] = await d.calls(
    ["edit_file", { file_path: "src/a.ts", old_string: "one", new_string: "two" }],
    ["delete", { file_path: "src" }],
  );
  assert.deepEqual([edited!.isError, deleted!.isError], [false, false]);
  const [first, second] = d.changes;
  assert.equal(first!.after!.hash, second!.before!.hash);
});
