import { test } from "node:test";
import { AppFolder, COMPOSER, ENTER, ESC, TAB } from "./app-terminal.ts";

test("commands change threads and settings, from lists that are searched by typing", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  await terminal.send("write it");
  await terminal.until(/Written\./);
  await terminal.send("/diff");
  await terminal.until(/notes\.md {2}added {2}\+1 −0\n {2}1 \+ first/);
  await terminal.send("/new release notes");
  await terminal.until(/── release notes ─+[^]*This is a new thread\./);

  // The completion begins the name, and a list is searched by the text of a thread.
  terminal.type("/thr");
  await terminal.until(/\/threads +go to another thread/);
  terminal.type(TAB);
  await terminal.until(() => terminal.composer()?.trim() === "/threads");
  terminal.type(ENTER);
  await terminal.until(/^Threads[^]*› release notes +now +0 messages +this one\n {2}write it +now +3 messages/m);
  terminal.type("written");
  await terminal.until(() => /› write it +now +3 messages\n─/.test(terminal.screenText()));
  await terminal.untilKeysCount();
  terminal.type(ENTER);
  await terminal.until(/── write it ─+[^]*You {2}write it[^]*Written\.[^]*$/);
  await terminal.until(COMPOSER);

  await terminal.send("/yolo");
  await terminal.until(/YOLO is on: [^]*^YOLO · build/m);
  await terminal.send("/yolo off");
  await terminal.until(/YOLO is off: /);
  await terminal.send("/mode plan");
  await terminal.until(/The mode is plan\.[^]*^plan · /m);
});

test("/help opens in the pager with the commands and the keys in force, and a wrong id says what to do", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  await terminal.send("/resume nothing");
  await terminal.until(/There is no thread "nothing"[^]*\n\/resume without an id lists the threads\./);
  await terminal.compose("/help");
  terminal.type(ENTER);
  await terminal.until(/Commands[^]*\/new \[TITLE\] +start a new thread/);
  terminal.type("q");
  await terminal.until(COMPOSER);
  await terminal.compose("/quit");
  terminal.type(ENTER);
  await terminal.until(() => terminal.screenText().trimEnd().endsWith("shell$"));
});

test("what a command says is broken at words", async () => {
  using place = new AppFolder();
  const terminal = await place.start("edits");
  await terminal.send("/tasks");
  await terminal.until(
    /\nThere are no tasks\. The agent writes a list for work of several steps; you can\nask for one\.\n/,
  );
});

test("--resume without an id asks which thread, and Esc starts a new one", async () => {
  using place = new AppFolder();
  const empty = await place.start("edits", { args: "--resume" });
  await empty.until(/There are no threads yet\./);
  await empty.send("write it");
  await empty.until(/Written\./);
  const chooses = await place.start("edits", { args: "--resume" });
  await chooses.until(/› write it +now +3 messages/);
  await chooses.untilKeysCount();
  chooses.type(ENTER);
  await chooses.until(/── write it ─+[^]*Written\./);
  const declines = await place.start("edits", { args: "--resume" });
  await declines.until(/› write it +now +3 messages/);
  declines.type(ESC);
  await declines.until(() => !/› write it/.test(declines.screenText()));
  await declines.send("write it anew");
  await declines.until(/You {2}write it anew[^]*Written\./);
});
