import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { call, hang, say } from "@cinch/testkit";
import { commandStage, withoutTimes } from "./command-stage.ts";

const flags = { yolo: true };
const steps = [
  say("Hello."),
  call("read_file", { file_path: "/sum.ts" }),
  call("edit_file", { file_path: "/sum.ts", old_string: "i = 1", new_string: "i = 0" }),
  call("write_file", { file_path: "/notes.md", content: "notes\n" }),
  call("write_file", { file_path: "/sum.test.ts", content: "test\n" }),
  say("Done."),
];
const files = { "shop/sum.ts": "let i = 1;\nreturn i;\n" };

test("/rewind lists what the user said, shows what it would change, and changes that", async () => {
  await using stage = await commandStage(steps, { files, flags });
  const { session } = stage;
  await session.sendMessage({ content: "hello" });
  await session.sendMessage({ content: "fix the \u001b[31msum" });
  stage.write("notes.md", "mine\n");
  const printed = await stage.picks({ label: "fix the sum" }).run("/rewind");
  const [list] = stage.lists;
  assert.deepEqual(withoutTimes(list!.rows), ["fix the sum  3 files", "hello  3 files"]);
  const what = "6 messages · sum.ts −1 +1 · sum.test.ts deleted · notes.md CHANGED SINCE: kept";
  assert.equal(list!.preview.join(" "), what);
  assert.deepEqual(printed, [
    `Reverted: ${what}`,
    "What another program changed was kept: compare it with /diff, or revert it by hand.",
  ]);
  assert.equal(stage.composed, "fix the \u001b[31msum");
  assert.equal(readFileSync(join(stage.folder, "sum.ts"), "utf8"), files["shop/sum.ts"]);
  assert.equal(existsSync(join(stage.folder, "sum.test.ts")), false);
  assert.equal(readFileSync(join(stage.folder, "notes.md"), "utf8"), "mine\n");
  const { status, inbox } = session.getDisplayState();
  assert.deepEqual([status, inbox], ["idle", []]);
});

test("/rewind of the conversation leaves the files, and of the files the conversation", async () => {
  await using stage = await commandStage(steps, { files, flags });
  const { session } = stage;
  await session.sendMessage({ content: "hello" });
  await session.sendMessage({ content: "fix the sum" });
  await stage.picks({ label: "fix the sum", way: "f" }).run("/rewind");
  assert.deepEqual(stage.printed, ["Reverted: sum.ts −1 +1 · notes.md deleted · sum.test.ts deleted"]);
  assert.equal(stage.composed, undefined);
  assert.equal(session.getDisplayState().messages.at(-1)!.role, "assistant");
  await stage.picks({ label: "fix the sum", way: "c" }).run("/rewind");
  assert.deepEqual(withoutTimes(stage.lists[1]!.rows), ["fix the sum  no files", "hello  no files"]);
  assert.deepEqual(stage.printed, ["Reverted: 6 messages"]);
  assert.equal(stage.composed, "fix the sum");
});

test("/rewind names a few of many files, and each one that it keeps", async () => {
  const paths = Array.from({ length: 12 }, (_, at) => `f${String(at).padStart(2, "0")}.txt`);
  const writes = paths.map((path) => call("write_file", { file_path: `/${path}`, content: "x\n" }));
  await using stage = await commandStage([...writes, say("Done.")], { flags });
  await stage.session.sendMessage({ content: "write them" });
  stage.write("f03.txt", "mine\n");
  await stage.picks({ label: "write them", way: "f" }).run("/rewind");
  const named = ["f00", "f01", "f02", "f04", "f05", "f06", "f07"].map((name) => `${name}.txt deleted · `).join("");
  const what = `${named}4 more files · f03.txt CHANGED SINCE: kept`;
  const [list] = stage.lists;
  assert.equal(list!.preview.join(" "), what);
  assert.ok(list!.preview.every((row) => row.length < 80));
  assert.equal(stage.printed[0], `Reverted: ${what}`);
});

test("/rewind asks before it ends a turn, and a hasty Enter leaves it", async () => {
  await using stage = await commandStage([hang("Well")]);
  const { session } = stage;
  const turn = session.sendMessage({ content: "think" });
  await stage.until(({ currentMessage }) => currentMessage !== null);
  await stage.picks({ label: "think" }, { label: /^No/ }).run("/rewind");
  assert.equal(session.getDisplayState().status, "running");
  assert.equal(stage.lists[1]!.rows[0], "No, leave it as it is");
  await stage.picks({ label: "think" }, { label: /^Yes/ }).run("/rewind");
  await turn;
  const { status, messages } = session.getDisplayState();
  assert.deepEqual([status, messages.filter(({ role }) => role === "user")], ["idle", []]);
  assert.equal(stage.composed, "think");
});

test("/rewind and /diff in a thread without messages and changes say so", async () => {
  await using stage = await commandStage([]);
  assert.deepEqual(await stage.run("/rewind"), ["There is no message to rewind to yet."]);
  assert.deepEqual(await stage.run("/diff"), ["This thread has changed no files."]);
});

test("/diff shows what the thread changed; what does not fit on the screen opens in the pager", async () => {
  await using stage = await commandStage(steps, { files, flags });
  await stage.session.sendMessage({ content: "hello" });
  await stage.session.sendMessage({ content: "fix the sum" });
  const lines = [
    "notes.md  added  +1 −0",
    "  1 + notes",
    "",
    "sum.test.ts  added  +1 −0",
    "  1 + test",
    "",
    "sum.ts  modified  +1 −1",
    "  1 - let i = 1;",
    "  1 + let i = 0;",
    "  2   return i;",
  ];
  assert.deepEqual(await stage.run("/diff"), lines);
  const rows = 10;
  await using small = await commandStage(steps, { files, flags, rows });
  await small.session.sendMessage({ content: "hello" });
  await small.session.sendMessage({ content: "fix the sum" });
  assert.deepEqual(await small.run("/diff"), []);
  assert.deepEqual(small.pages, [{ title: "Changes of this thread", rows: lines }]);
});
