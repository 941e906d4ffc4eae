import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desk, folder, run } from "./desk.ts";

test("if there are too many files to watch, commands still run quickly, and report it", async () => {
  using root = folder({ "a.txt": "a\n" });
  for (let at = 0; at < 21; at++) {
    mkdirSync(join(root.path, `d${at}`));
    for (let no = 0; no < 1_000; no++) writeFileSync(join(root.path, `d${at}`, `${no}`), "");
  }
  await using h = await desk({ root: root.path });
  const seq = await h.turn(run("echo 2 > a.txt"), run("echo 3 > a.txt"));
  const ends = h.events.flatMap((event) => (event.type === "tool_end" ? [`${event.result.content}`] : []));
  for (const text of ends) assert.match(text, /^Exit code 0 .*can't be reverted: there are more than 20000 files/s);
  const { files, untracked } = await h.rewind({ toSeq: seq, files: true });
  assert.deepEqual([files, untracked.length], [[], 1]);
  assert.equal(root.text("a.txt"), "3\n");
});
