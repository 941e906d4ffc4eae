import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { createWorkspace, directoryBackend, localWorkspace } from "@cinch/workspace";
import { virtualShell } from "@cinch/workspace/virtual";
import { commandDesk } from "./tools/execute/command-desk.ts";
import { bubblewrap, sandboxRuntime } from "./sandboxes/sandboxes.ts";
import { folder } from "./shells/shell-support.ts";

/** Under the usual name, and under others. */
const places = [".cinch/cinch.db", "journal.sqlite", "data/[deep]/my {store}*.bin"];

/** A text that only the store contains. */
const SQLITE = /SQLite format|thread_created/;

for (const place of places) {
  describe(`a store in the workspace, at ${place}`, () => {
    test("is hidden from the file tools, and the folder above it can't be deleted", async () => {
      using root = folder();
      writeFileSync(join(root.path, "open.txt"), "thread_created\n");
      const storage = sqliteStore({ path: join(root.path, place) });
      await using desk = await commandDesk(localWorkspace({ root: root.path, sandbox: "none" }), { storage });
      symlinkSync(join(root.path, place), join(root.path, "link"));
      const name = place.split("/").at(-1)!;
      const above = place.includes("/") ? `/${place.split("/").slice(0, -1).join("/")}` : "/";
      for (const file of ["", "-wal", "-shm", "-journal"].map((ending) => `/${place}${ending}`)) {
        await desk.fails("read_file", { file_path: file });
        await desk.fails("write_file", { file_path: file, content: "x" });
        await desk.fails("delete", { file_path: file });
        await desk.fails("grep", { pattern: "x", path: file });
      }
      await desk.fails("read_file", { file_path: "/link" });
      await desk.fails("write_file", { file_path: "/link", content: "x" });
      if (above !== "/") await desk.fails("delete", { file_path: above });
      await desk.fails("delete", { file_path: `/${place.split("/")[0]}` });
      const seen = await desk.calls(
        desk.harness,
        ["ls", { path: above }],
        ["glob", { pattern: "**/*" }],
        ["grep", { pattern: "thread_created" }],
      );
      for (const { text } of seen) assert.ok(!text.includes(name), text);
      assert.match(seen[2]!.text, /^1 line in 1 file\nopen\.txt/);
      await assert.rejects(desk.workspace.download([`/${place}`]));
      assert.ok(readFileSync(join(root.path, place)).length > 0);
    });

    for (const { title, why, lend } of [bubblewrap, sandboxRuntime]) {
      test(
        `can't be read, changed, replaced, or deleted with its folder by commands in ${title}`,
        { skip: why },
        async () => {
          using root = folder();
          mkdirSync(join(root.path, "work"));
          const storage = sqliteStore({ path: join(root.path, place) });
          const workspace = localWorkspace({ root: root.path, sandbox: lend() });
          let threadId: string;
          {
            await using desk = await commandDesk(workspace, { storage });
            await desk.ok("execute", { command: "true" });
            const quoted = `'${place}'`;
            const top = `'${place.split("/")[0]}'`;
            const files = ["", "-wal", "-shm", "-journal"].map((ending) => `${quoted}${ending}`);
            const { text } = await desk.ok("execute", {
              command: [
                ...files.flatMap((file) => [
                  `cat ${file}`,
                  `strings ${file} | head -5`,
                  `echo evil > ${file}`,
                  `rm -f ${file}`,
                  `mv ${file} stolen`,
                  `ln ${file} linked`,
                  `cp work ${file}`,
                ]),
                `mv ${top} moved`,
                `rm -rf ${top}`,
                "grep -rl 'SQLite format' . && echo found it",
                "echo fine > work/file",
              ].join("\n"),
            });
            assert.doesNotMatch(text, SQLITE);
            assert.doesNotMatch(text, /found it/);
            threadId = desk.harness.getCurrentThreadId()!;
          }
          assert.equal(readFileSync(join(root.path, "work", "file"), "utf8"), "fine\n");
          for (const stolen of ["stolen", "linked", "moved"]) assert.ok(!existsSync(join(root.path, stolen)), stolen);
          // A log that SQLite replays when the store is opened must not come from a command.
          assert.equal(readFileSync(join(root.path, `${place}-journal`), "utf8"), "");
          const again = sqliteStore({ path: join(root.path, place) });
          await using desk = await commandDesk(localWorkspace({ root: root.path, sandbox: "none" }), {
            storage: again,
          });
          await desk.harness.switchThread({ threadId });
          assert.equal((await desk.harness.listMessages()).length > 4, true);
        },
      );
    }
  });
}

test("a store in the workspace is hidden from an interpreter", async () => {
  using root = folder();
  const backend = directoryBackend({ root: root.path });
  const workspace = createWorkspace({ backend, shell: virtualShell({ backend }) });
  await using desk = await commandDesk(workspace, { storage: sqliteStore({ path: join(root.path, "my.db") }) });
  const read = await desk.ok("execute", { command: "cat my.db; rm my.db; ls -A; echo over" });
  assert.doesNotMatch(read.text, SQLITE);
  assert.match(read.text, /\nover\ncat: my\.db: No such file/);
  assert.match((await desk.ok("execute", { command: "echo x > my.db-journal" })).text, /permission denied/);
  assert.ok(readdirSync(root.path).includes("my.db"));
  assert.ok(!readdirSync(root.path).includes("my.db-journal"));
});
