import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { AppFolder, COMPOSER, ctrl, ENTER, ESC, type AppTerminal } from "./app-terminal.ts";

const CTRL_C = ctrl("c");

test("Ctrl-C stops the turn, then moves the text to the history, then leaves at the second press", async () => {
  using place = new AppFolder();
  const terminal = await place.start("hangs");
  await terminal.send("begin");
  await terminal.until(/I hang here/);
  await terminal.compose("draft");
  terminal.type(CTRL_C);
  await terminal.until(/interrupted/);
  assert.equal(terminal.composer(), "draft");
  terminal.type(CTRL_C);
  await terminal.until(COMPOSER);
  terminal.type(CTRL_C);
  await terminal.until(/Ctrl-C again to leave/);
  terminal.type("\u001b[A");
  await terminal.until(() => terminal.composer() === "draft");
  terminal.type(CTRL_C);
  await terminal.until(COMPOSER);
  terminal.type(CTRL_C);
  await terminal.until(/Ctrl-C again to leave/);
  terminal.type(CTRL_C);
  await terminal.until(/To come back: cinch --resume thread_\w+\nshell\$ $/);
  await terminal.run("echo code $?", /^code 0$/m);
});

test("a thread without a message leaves no trace", async () => {
  using place = new AppFolder();
  const terminal = await place.start("hangs");
  terminal.type(CTRL_C);
  await terminal.until(/again to leave/);
  terminal.type(CTRL_C);
  await terminal.until(/shell\$ $/);
  assert.doesNotMatch(terminal.screenText(), /--resume/);
  await terminal.run('"$NODE" "$PROGRAM" --continue', /There are no threads yet/);
});

test("Ctrl-Z suspends the app with its text, and fg continues it", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.compose("draft");
  terminal.type(ctrl("z"));
  await terminal.until(/Stopped[^]*shell\$ $/);
  await terminal.run("stty -a; echo do''ne", /(?<!-)icanon[^]*^done$/m);
  terminal.type("fg\r");
  await terminal.until(() => terminal.composer() === "draft");
  terminal.type(ENTER);
  await terminal.until(/You {2}draft[^]*The first paragraph/);
});

test("fg draws in the size of the terminal, which changed while the app was suspended", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.compose("draft");
  terminal.type(ctrl("z"));
  await terminal.until(/Stopped[^]*shell\$ $/);
  terminal.resize(50, 24);
  await terminal.run("echo do''ne", /^done$/m);
  terminal.type("fg\r");
  await terminal.until(/fg[^]*^─{49}\n> draft\n─{49}$/m);
});

test("after kill -9 in the middle of a turn, --continue shows the thread, continues the turn, and has the unsent text", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.send("hello there");
  await terminal.until(/The second/);
  await terminal.compose("unsent words");
  await unsentIsSaved(place);
  kill(terminal);
  await terminal.until(/Killed\s+shell\$/);
  await terminal.clear();
  place.openGate();
  await terminal.begin("--continue", /You {2}hello there[^]*The second one is long\./);
  await terminal.until(() => terminal.composer() === "unsent words");
});

test("an approval is answered after a restart", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.until(/Run this command\?/);
  kill(terminal);
  await terminal.until(/Killed\s+shell\$/);
  await terminal.clear();
  await terminal.begin("--continue", /You {2}go[^]*Run this command\?\n│ echo approved > proof\.txt/);
  await terminal.untilMarked("y approve");
  terminal.type("y");
  await terminal.until(/The command is done\./);
  assert.equal(place.read("proof.txt"), "approved\n");
});

test("after a crash the shell has a sane terminal and the error, and --continue has the unsent text", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  await terminal.send("write it");
  await terminal.until(/Written\./);
  await terminal.send("/crash");
  await terminal.compose("draft");
  place.openGate();
  await terminal.until(/Error: crashed on purpose[^]*shell\$ $/);
  await terminal.run("stty -a; echo do''ne", /(?<!-)icanon[^]*^done$/m);
  assert.equal(terminal.screen.terminal.modes.bracketedPasteMode, false);
  terminal.type('"$NODE" "$PROGRAM" --continue\r');
  await terminal.until(() => terminal.composer() === "draft");
});

test("leaving while a turn waits says that the turn is kept", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.until(/Run this command\?/);
  killWith(terminal, "SIGTERM");
  await terminal.until(/The turn is kept[^]*cinch --resume thread_\w+/);
  await terminal.until(/shell\$ $/);
  await terminal.run("echo code $?", /^code 143$/m);
});

test("Esc Esc rewinds the conversation and the files, and the text returns to the composer", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  await terminal.send("write it");
  await terminal.until(/Written\./);
  await terminal.send("write it again");
  await terminal.until(/Written again\./);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  assert.equal(place.read("notes.md"), "second\n");
  terminal.type(ESC);
  await terminal.until(/Esc again to rewind/);
  terminal.type(ESC);
  await terminal.until(/Rewind to before[^]*› write it again[^]*\n {2}write it [^]*notes\.md −1 \+1/);
  terminal.type("\u001b[B");
  await terminal.until(/› write it [^]*notes\.md deleted/);
  terminal.type("\u001b[A");
  await terminal.until(/› write it again[^]*notes\.md −1 \+1/);
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(() => terminal.composer() === "write it again");
  await terminal.until(/Reverted: /);
  assert.equal(terminal.screenText().match(/── write it ──/g)?.length, 1);
  assert.equal(place.read("notes.md"), "first\n");
});

/** The copy is written shortly after the last key, first under another name. */
async function unsentIsSaved(place: AppFolder): Promise<void> {
  const find = () =>
    execFileSync("find", [place.state, "-path", "*unsent*", "-type", "f", "!", "-name", "*.tmp"], { encoding: "utf8" });
  for (let waited = 0; find() === ""; waited += 20) {
    if (waited > 60_000) throw new Error("The unsent text is not saved.");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const kill = (terminal: AppTerminal): void => killWith(terminal, "SIGKILL");

/** From outside, as another process would. */
function killWith(terminal: AppTerminal, signal: NodeJS.Signals): void {
  const [pid] = execFileSync("pgrep", ["-P", String(terminal.pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  process.kill(Number(pid), signal);
}
