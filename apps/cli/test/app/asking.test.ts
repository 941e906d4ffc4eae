import assert from "node:assert/strict";
import { test } from "node:test";
import { AppFolder, ENTER, ESC, TAB } from "./app-terminal.ts";

test("an approval shows the command; y approves it", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.until(/Run this command\?\n│ echo approved > proof\.txt/);
  await terminal.untilMarked("y approve");
  assert.equal(place.has("proof.txt"), false);
  terminal.type("y");
  await terminal.until(/The command is done\./);
  assert.equal(place.read("proof.txt"), "approved\n");
});

test("a decline with a reason is a message for the model", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.untilMarked("y approve");
  terminal.type("r");
  await terminal.until(/Why not\?/);
  terminal.type(`not now${ENTER}`);
  await terminal.until(/The command is done\./);
  assert.equal(place.has("proof.txt"), false);
});

test("an approval that appears under typing fingers waits for Tab: no key of the text answers it", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks late");
  await terminal.send("go");
  await terminal.until(/Esc stops/);
  await terminal.compose("yes, and ");
  place.openGate();
  await terminal.until(/Run this command\?/);
  terminal.type("yyy");
  await terminal.until(() => terminal.composer() === "yes, and yyy");
  await terminal.until(/Tab gives it the keys/);
  assert.equal(place.has("proof.txt"), false);
  terminal.type(TAB);
  await terminal.untilMarked("y approve");
  terminal.type("y");
  await terminal.until(/The command is done\./);
  assert.equal(terminal.composer(), "yes, and yyy");
  assert.equal(place.read("proof.txt"), "approved\n");
});

test("two approvals come one after the other, and the key of the first does not answer the second", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks twice");
  await terminal.send("go");
  await terminal.until(/│ echo one[^]*1 more/);
  await terminal.untilMarked("y approve");
  terminal.type("yy");
  await terminal.until(/│ echo two/);
  await terminal.untilMarked("y approve");
  assert.equal(terminal.composer(), "");
  assert.doesNotMatch(terminal.screenText(), /answered already/);
  terminal.type("y");
  await terminal.until(/Both are done\./);
  assert.equal(place.read("proof.txt"), "one\ntwo\n");
});

test("a panel gets the keys also if its silence ends while a frame is made", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks", { env: { CLOCK: "slow-frames" } });
  await terminal.send("go");
  await terminal.untilMarked("y approve");
});

test("Esc stops a turn that waits for an answer", async () => {
  using place = new AppFolder();
  const terminal = await place.start("asks");
  await terminal.send("go");
  await terminal.untilMarked("y approve");
  terminal.type(ESC);
  await terminal.until(() => !/Run this command\?/.test(terminal.screenText()));
  await terminal.compose("next");
  assert.equal(place.has("proof.txt"), false);
});

test("a question is answered with an option, by arrows", async () => {
  using place = new AppFolder();
  const terminal = await place.start("questions");
  await terminal.send("go");
  await terminal.untilMarked("sqlite");
  terminal.type("\u001b[B");
  await terminal.untilMarked("postgres");
  terminal.type(ENTER);
  await terminal.until(/postgres[^]*It is chosen\./);
});

test("a command of the app is carried out where a question takes a text, and any other text with a slash is the answer", async () => {
  using place = new AppFolder();
  const terminal = await place.start("questions");
  await terminal.send("go");
  await terminal.untilMarked("sqlite");
  terminal.type(`/rename Storage${ENTER}`);
  await terminal.until(/The thread is now "Storage"\.[^]*\n› sqlite/);
  terminal.type(`/etc/databases${ENTER}`);
  await terminal.until(/\/etc\/databases[^]*It is chosen\./);
});

test("a plan is printed whole, and its approval leads to the next mode", async () => {
  using place = new AppFolder();
  const terminal = await place.start("plans", { env: { MODE: "plan" } });
  await terminal.send("go");
  await terminal.until(/Release[^]*Steps[^]*first[^]*second[^]*Carry out this plan\?/);
  await terminal.untilMarked("y approve, go to build");
  terminal.type("y");
  await terminal.until(/Carried out\.[^]*\nbuild ·/);
});
