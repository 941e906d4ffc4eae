/** The errors of tools for a file that has changed since the thread read it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { desk, edit, folder, read, remove, run, write } from "./desk.ts";

const results = (h: Awaited<ReturnType<typeof desk>>) =>
  h.events.flatMap((event) => (event.type === "tool_end" ? [`${event.result.content}`] : []));

test("a file that a command changed since the thread read it has changed since, also if the thread wrote it", async () => {
  using root = folder({ "a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n" });
  await using h = await desk({ root: root.path });
  await h.turn(read("a.txt"), read("b.txt"), read("c.txt"), write("b.txt", "two\n"));
  await h.turn(run("echo x | tee -a a.txt b.txt; rm c.txt; echo new > c.txt"));
  const from = results(h).length;
  await h.turn(
    write("a.txt", "mine\n"),
    edit("a.txt", "one", "1"),
    edit("b.txt", "two", "2"),
    write("c.txt", "mine\n"),
  );
  for (const text of results(h).slice(from)) assert.match(text, /has changed since this thread last read or wrote it/);
  assert.deepEqual(root.all(), { "a.txt": "one\nx\n", "b.txt": "two\nx\n", "c.txt": "new\n" });
});

test("a file that the thread never read has not been read, whatever a command did to it", async () => {
  using root = folder({ "a.txt": "one\n", "b.txt": "one\n" });
  await using h = await desk({ root: root.path });
  await h.turn(remove("b.txt"), run("echo x >> a.txt; echo x > b.txt; echo x > c.txt"));
  const from = results(h).length;
  await h.turn(write("a.txt", "mine\n"), edit("c.txt", "x", "y"));
  for (const text of results(h).slice(from)) assert.match(text, /has not been read in this thread/);
});

test("a file that a command made again what the thread wrote may be written without reading it", async () => {
  using root = folder({ "a.txt": "one\n" });
  await using h = await desk({ root: root.path });
  await h.turn(read("a.txt"), write("a.txt", "two\n"), run("echo x > a.txt"), run("echo two > a.txt"));
  await h.turn(write("a.txt", "three\n"));
  assert.equal(root.text("a.txt"), "three\n");
});
