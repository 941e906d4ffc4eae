import assert from "node:assert/strict";
import { test } from "node:test";
import { AppFolder, ctrl, ENTER, TAB } from "./app-terminal.ts";

test("two terminals on one thread see each other's messages, and an answer of one is an answer for both", async () => {
  using place = new AppFolder();
  const one = await place.start("asks");
  await one.send("from one");
  await one.until(/Run this command\?/);
  const two = await place.start("asks", { args: "--continue" }).catch((error: unknown) => {
    throw error;
  });
  await two.until(/You {2}from one[^]*Run this command\?/);
  await two.untilMarked("y approve");
  two.type("y");
  await two.until(/The command is done\./);
  await one.until(/The command is done\./);
  assert.doesNotMatch(one.screenText(), /Run this command\?/);
  await two.send("from two");
  await one.until(/You {2}from two[^]*│ echo again/);
  await one.untilMarked("y approve");
  one.type("y");
  await two.until(/Over\./);
});

test("a terminal of 1 × 1 is survived, and the composer is there again afterwards", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.until(/Run this command\?/);
  for (const [columns, rows] of [
    [1, 1],
    [200, 3],
    [3, 50],
    [80, 24],
  ] as const)
    terminal.resize(columns, rows);
  await terminal.untilMarked("y approve");
  terminal.type("y");
  await terminal.until(/The command is done\./);
  await terminal.compose("still here");
});

test("hostile text of the model moves nothing, sets nothing and fakes no approval", async () => {
  using place = new AppFolder();
  const terminal = await place.start("is hostile");
  await terminal.send("go");
  await terminal.until(/sends a privacy message/);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  const written = terminal.bytes.join("");
  const answer = written.slice(written.indexOf("You"));
  // Titles and clipboard, device control, application and privacy strings, clearing, a reset, the bell, the alternate screen.
  for (const forbidden of [
    "\u001b]",
    "\u001bP",
    "\u001b_",
    "\u001b^",
    "\u001b[2J",
    "\u001b[3J",
    "\u001bc",
    "\u0007",
    "\u001b[?1049h",
  ])
    assert.equal(answer.includes(forbidden), false, JSON.stringify(forbidden));
  await terminal.send("next");
  await terminal.until(/│ echo ls <U\+202E>/);
});

test("the user's own command prints its output, and the output goes with the next message", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  place.openGate();
  await terminal.send("!echo one; echo two; exit 3");
  await terminal.until(/\$ echo one; echo two; exit 3\none\ntwo\nexit 3/);
  await terminal.until(/goes with the next message/);
  await terminal.send("why?");
  await terminal.until(/You {2}I ran this command \(exit 3\):[^]*two[^]*why\?/);
});

test("Ctrl-G opens the text in the editor, and what was saved returns to the composer", async () => {
  using place = new AppFolder();
  const editor = "sh -c 'echo edited >> \"$0\"'";
  const terminal = await place.start("streams", { env: { EDITOR: editor } });
  await terminal.compose("draft ");
  terminal.type(ctrl("g"));
  await terminal.until(() => terminal.composer() === "draft edited");
  terminal.type("!");
  await terminal.until(() => terminal.composer() === "draft edited!");
});

test("an editor that is suspended continues with the terminal, and the app waits for it", async () => {
  using place = new AppFolder();
  const editor = 'sh -c \'kill -TSTP 0; read line; echo "$line" >> "$0"\'';
  const terminal = await place.start("streams", { env: { EDITOR: editor } });
  await terminal.compose("draft ");
  terminal.type(ctrl("g"));
  await terminal.until(/Stopped[^]*shell\$ $/);
  await terminal.run("fg", /^"\$NODE" "\$PROGRAM"/m);
  terminal.type("typed\r");
  await terminal.until(() => terminal.composer() === "draft typed");
});

test("Ctrl-T shows the whole thread on the alternate screen, Ctrl-O the last call, and q returns", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  terminal.type(ctrl("o"));
  await terminal.until(/There is no call yet/);
  await terminal.send("write it");
  await terminal.until(/Written\./);
  for (const [key, shown] of [
    [ctrl("t"), /You\nwrite it[^]*content:\n\s+first[^]*q closes/],
    [ctrl("o"), /write_file[^]*content:\n\s+first[^]*q closes/],
  ] as const) {
    terminal.type(key);
    await terminal.until(shown);
    assert.equal(terminal.screen.terminal.buffer.active.type, "alternate");
    terminal.type("q");
    await terminal.until(() => terminal.composer() === "");
    assert.equal(terminal.screen.terminal.buffer.active.type, "normal");
  }
});

test("a file of the project is completed after @", async () => {
  using place = new AppFolder();
  place.write("chapter one.md", "");
  place.write("notes.md", "");
  const terminal = await place.start("streams");
  terminal.type("see @chap");
  await terminal.until(/› chapter one\.md/);
  terminal.type(TAB);
  await terminal.until(() => terminal.composer() === 'see @"chapter one.md" ');
});

test("Shift-Tab changes the mode", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.until(/^build ·/m);
  terminal.type("\u001b[Z");
  await terminal.until(/^plan ·/m);
});

test("an unknown command is one line with the nearest one, and the text stays", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.compose("/hlep");
  terminal.type(ENTER);
  await terminal.until(/There is no command \/hlep/);
  assert.equal(terminal.composer(), "/hlep");
});

test("the bell rings when something waits and the window has no focus, and not otherwise", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  const rings = () => terminal.bytes.join("").split("\u0007").length - 1;
  terminal.type("\u001b[I");
  await terminal.send("go");
  await terminal.untilMarked("y approve");
  assert.equal(rings(), 0);
  terminal.type("y");
  await terminal.until(/The command is done\./);
  await terminal.compose("once more");
  terminal.type(`${ENTER}\u001b[O`);
  await terminal.until(/│ echo again/);
  await terminal.until(() => rings() === 1);
});

test("a thread that another process deletes is replaced by a new one, and the text stays", async () => {
  using place = new AppFolder();
  place.openGate();
  const one = await place.start("streams");
  await one.send("hello");
  await one.until(/The second one is long\./);
  await one.compose("draft");
  await place.deleteThreads();
  await one.until(/This thread was deleted elsewhere/);
  assert.equal(one.composer(), "draft");
  one.type(ENTER);
  await one.until(/You {2}draft[^]*The first paragraph/);
});

test("a message that the store refuses returns to the composer, and one line says what to do", async () => {
  using place = new AppFolder();
  const terminal = await place.shell({ ...place.env("streams") });
  // No file may grow beyond this: the store finds its disk full.
  await terminal.run("ulimit -f 2000; echo limi''ted", /^limited$/m);
  await terminal.begin();
  terminal.type(`\u001b[200~${"words ".repeat(1_000_000)}\u001b[201~`);
  await terminal.until(/> \[paste 1: 6000000 characters\]/);
  terminal.type(ENTER);
  await terminal.until(/Your text is kept/);
  await terminal.until(/> \[paste 1: 6000000 characters\]/);
});
