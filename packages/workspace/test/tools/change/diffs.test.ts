import assert from "node:assert/strict";
import { test } from "node:test";
import { fileDesk } from "../file-desk.ts";

test("the details of write_file have the diff of what it wrote", async () => {
  await using d = await fileDesk({ files: { "/old.txt": "one\ntwo\n" } });
  await d.ok("read_file", { file_path: "old.txt" });
  const [created, replaced, binary, same] = await d.calls(
    ["write_file", { file_path: "new.txt", content: "a\n" }],
    ["write_file", { file_path: "old.txt", content: "one\n2\n" }],
    ["write_file", { file_path: "bytes", content: "a\0" }],
    ["write_file", { file_path: "old.txt", content: "one\n2\n" }],
  );
  assert.deepEqual(created!.details, {
    path: "/new.txt",
    changed: true,
    created: true,
    diff: "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+a\n",
  });
  assert.deepEqual(replaced!.details, {
    path: "/old.txt",
    changed: true,
    created: false,
    diff: "--- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
  });
  assert.deepEqual(binary!.details, { path: "/bytes", changed: true, created: true });
  assert.deepEqual(same!.details, { path: "/old.txt", changed: false });
  assert.doesNotMatch(replaced!.text, /@@/, "the model wrote it, and gets no diff");
});

test("the details of edit_file have the diff of what it changed, of two edits in one step each its own", async () => {
  await using d = await fileDesk({ files: { "/a.txt": "one\ntwo\nthree" } });
  await d.ok("read_file", { file_path: "a.txt" });
  const edited = await d.calls(
    ["edit_file", { file_path: "a.txt", old_string: "two", new_string: "2" }],
    ["edit_file", { file_path: "a.txt", old_string: "three", new_string: "3" }],
  );
  const end = "\n\\ No newline at end of file\n";
  assert.deepEqual(
    edited.map(({ details }) => details),
    [
      {
        path: "/a.txt",
        places: 1,
        forgiving: false,
        diff: `--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three${end}`,
      },
      {
        path: "/a.txt",
        places: 1,
        forgiving: false,
        diff: `--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n 2\n-three${end}+3${end}`,
      },
    ],
  );
});
