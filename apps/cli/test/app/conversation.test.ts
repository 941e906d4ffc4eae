import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ALT_ENTER, ALT_UP, AppFolder, ENTER, ESC, type AppTerminal } from "./app-terminal.ts";

test("an answer streams: a finished block is printed, the rest follows, and each word is there once", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.send("hello there");
  await terminal.until(/You {2}hello there[^]*The first paragraph\.[^]*The second[^]*Esc stops/);
  place.openGate();
  await terminal.until(/The second one is long\./);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  assert.equal(terminal.screenText().match(/The first paragraph/g)?.length, 1);
  assert.equal(terminal.screenText().match(/The second/g)?.length, 1);
  await terminal.send("next");
  await terminal.until(/You {2}next[^]*Second answer\./);
  await terminal.until(() => !/Esc stops/.test(terminal.screenText()));
  await untilSilent(terminal);
});

/** An idle app writes nothing. A spinner would write eight times a second. */
async function untilSilent(terminal: AppTerminal): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 500) {
    const { length } = terminal.bytes;
    await sleep(500);
    if (terminal.bytes.length === length) return;
  }
  assert.fail("the app does not become idle");
}

test("Enter steers while the agent works, Alt-Enter queues, Alt-Up edits and removes what is queued", async () => {
  using place = new AppFolder();
  const terminal = await place.start("hangs");
  await terminal.send("begin");
  await terminal.until(/I hang here[^]*Esc stops/);
  await terminal.send("be quick");
  await terminal.until(/steers {2}be quick/);
  await terminal.send("first", { by: ALT_ENTER });
  await terminal.send("second", { by: ALT_ENTER });
  await terminal.until(/queued {2}first\nqueued {2}second/);
  await terminal.compose("draft");
  terminal.type(ALT_UP);
  await terminal.until(() => terminal.composer() === "second");
  terminal.type("s");
  await terminal.until(() => terminal.composer() === "seconds");
  terminal.type(ENTER);
  await terminal.until(/queued {2}seconds/);
  await terminal.until(() => terminal.composer() === "draft");
  terminal.type(ALT_UP);
  await terminal.until(() => terminal.composer() === "seconds");
  terminal.type(`\u0015${ENTER}`);
  await terminal.until(() => !/seconds/.test(terminal.screenText()));
  assert.equal(terminal.composer(), "draft");
});

test("a queued input that the turn takes while it is edited is told so, and the text is kept", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.send("begin");
  await terminal.until(/The second/);
  await terminal.send("later", { by: ALT_ENTER });
  await terminal.until(/queued {2}later/);
  terminal.type(ALT_UP);
  await terminal.until(() => terminal.composer() === "later");
  place.openGate();
  await terminal.until(/Second answer\./);
  terminal.type("!");
  await terminal.until(() => terminal.composer() === "later!");
  terminal.type(ENTER);
  await terminal.until(/It is not queued any more: a turn took it, or it was removed elsewhere\./);
  assert.equal(terminal.composer(), "later!");
});

test("Esc stops the turn, the text stays, and Enter on an empty line sends what is queued", async () => {
  using place = new AppFolder();
  const terminal = await place.start("streams");
  await terminal.send("begin");
  await terminal.until(/The second/);
  await terminal.send("later", { by: ALT_ENTER });
  await terminal.until(/queued {2}later/);
  await terminal.compose("draft");
  terminal.type(ESC);
  await terminal.until(/interrupted/);
  assert.doesNotMatch(terminal.screenText(), /resume\(\)|Enter sends what is queued/);
  assert.equal(terminal.composer(), "draft");
  place.openGate();
  terminal.type("\u0015");
  await terminal.until(/Enter sends what is queued/);
  terminal.type(ENTER);
  await terminal.until(/You {2}later[^]*The second one is long\./);
});

test("a turn that is stopped before its first word says so, once for each turn", async () => {
  using place = new AppFolder();
  const terminal = await place.start("silent");
  for (const message of ["hello", "and now"]) {
    await terminal.send(message);
    await terminal.until(new RegExp(`You {2}${message}[^]*Esc stops`));
    terminal.type(ESC);
    await terminal.until(new RegExp(`You {2}${message}\\n+✗ stopped: there is no answer\\n`));
  }
  assert.equal(terminal.screenText().split("there is no answer").length, 3);
});

test("a turn that fails says why and what to do, once for each turn", async () => {
  using place = new AppFolder();
  const terminal = await place.start("fails");
  const failures = () =>
    terminal.screenText().split(/✗ the provider is on fire .*\n {2}Send another message/).length - 1;
  await terminal.send("hello");
  await terminal.until(() => failures() === 1);
  await terminal.send("again");
  await terminal.until(() => failures() === 2);
});
