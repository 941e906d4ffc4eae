import assert from "node:assert/strict";
import { test } from "node:test";
import { LineFolder, READY } from "./line-process.ts";

const CHOICES = /^1 to \d: $/m;

test("an answer is printed by finished paragraphs, each once", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "hello there");
  await app.until(/^You {2}hello there\n(?:.*\n)*?The first paragraph\.\n/m);
  assert.doesNotMatch(app.output, /The second/);
  place.openGate();
  await app.until(/^The second one is long\.\n/m);
  await app.answer(READY, "next");
  await app.until(/^You {2}next\n(?:.*\n)*?Second answer\.\n/m);
  assert.equal(app.output.match(/The first paragraph/g)?.length, 1);
  assert.equal(await app.leave(), 0);
  assert.match(app.output, /To come back: cinch --resume thread_\w+\n$/);
});

test("an approval is printed whole and answered with a number or a letter", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.until(
    /^Run this command\?\n│ echo approved > proof\.txt\n1 approve \(y\)\n2 decline \(n\)\n3 decline with a reason \(r\)\n/m,
  );
  await app.answer(CHOICES, "9");
  await app.until(/^There is no choice 9\.\n/m);
  await app.answer(CHOICES, "what?");
  await app.until(/^This is not a choice\.\n/m);
  assert.equal(place.has("proof.txt"), false);
  await app.answer(CHOICES, "1");
  await app.until(/^done execute echo approved[^]*^The command is done\.\n/m);
  assert.equal(place.read("proof.txt"), "approved\n");
  await app.answer(READY, "again");
  await app.answer(CHOICES, "n");
  await app.until(/^failed execute echo again {2}declined\n/m);
  await app.until(READY);
});

test("an approval is declined with a reason, and an empty line goes back to the choices", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.answer(CHOICES, "3");
  await app.answer(/^Why not\? \(an empty line goes back\): $/m, "");
  await app.answer(CHOICES, "r");
  await app.answer(/^Why not\?.*: $/m, "too early");
  await app.until(/declined\n {2}too early\n/);
  assert.equal(place.has("proof.txt"), false);
});

test("a command to be approved is typed anew, and what was typed runs", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.answer(CHOICES, "edit");
  await app.answer(/^> .*: $/m, "echo edited > proof.txt");
  await app.answer(/^> .*: $/m, ".");
  await app.until(/^The command is done\.\n/m);
  assert.equal(place.read("proof.txt"), "edited\n");
});

test("two questions are asked one after the other", async () => {
  using place = new LineFolder();
  const app = place.start("asks twice");
  await app.answer(READY, "go");
  await app.until(/^│ echo one/m);
  await app.answer(CHOICES, "y");
  await app.until(/^│ echo two/m);
  await app.answer(CHOICES, "y");
  await app.until(/^Both are done\.\n/m);
  assert.equal(place.read("proof.txt"), "one\ntwo\n");
});

test("a question is answered with the number of an option, or in the user's own words", async () => {
  using place = new LineFolder();
  const app = place.start("questions");
  await app.answer(READY, "go");
  await app.until(/^Question\n│ Which database\?\n1 sqlite\n2 postgres\n/m);
  await app.answer(/^1 to 2, or your answer: $/m, "7");
  await app.until(/There is no choice 7/);
  await app.answer(/your answer: $/m, "2");
  await app.until(/postgres\nIt is chosen\.\n/);

  const own = place.start("asks openly");
  await own.answer(READY, "go");
  await own.answer(/^your answer: $/m, "7 dwarfs");
  await own.until(/7 dwarfs\nIt has a name\.\n/);
});

test("several options are chosen with several numbers", async () => {
  using place = new LineFolder();
  const app = place.start("asks several");
  await app.answer(READY, "go");
  await app.until(/^1 red\n2 green: as grass\n3 blue\n/m);
  await app.answer(/^Numbers, or your answer: $/m, "1, 3");
  await app.until(/red.*blue[^]*They are chosen\.\n/);
});

test("a plan is printed whole, and its approval leads to the next mode", async () => {
  using place = new LineFolder();
  const app = place.start("plans", { env: { MODE: "plan" } });
  await app.answer(/^plan> $/m, "go");
  await app.until(
    /^Release\n[^]*^Steps\n[^]*first\n[^]*second\n[^]*^Carry out this plan\?\n1 approve, go to build \(y\)\n/m,
  );
  await app.answer(CHOICES, "1");
  await app.until(/^Carried out\.\n/m);
  await app.until(READY);
});

test("while the agent works a line steers it, /queue queues one, and /queue alone changes what is queued", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  await app.answer(READY, "begin");
  await app.until(/^You {2}begin\n/m);
  app.type("be quick\n");
  await app.untilQuiet();
  app.type("/queue first\n");
  await app.until(/^Queued\.\n/m);
  app.type("/queue second\n");
  await app.until(/^Queued\.\n/m);
  app.type("/queue\n");
  await app.answer(/^Queued, the next one first\n1 be quick\n2 first\n3 second\n.*: $/m, "3");
  await app.answer(/^second\n1 edit \(e\)\n2 remove \(r\)\n.*: $/m, "r");
  await app.untilQuiet();
  app.type("/queue\n");
  await app.answer(/^Queued, the next one first\n1 be quick\n2 first\n1 to 2,.*: $/m, "");
  await app.untilQuiet();
  app.type("/stop\n");
  await app.until(/interrupted[^]*^Queued input waits: an empty line sends it, \/queue changes it\.\n/m);
  await app.until(READY);
});

test("a queued input that the turn takes while it is edited is told so, and the text comes back", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "begin");
  await app.until(/^You {2}begin\n/m);
  app.type("/queue later\n");
  await app.until(/^Queued\.\n/m);
  app.type("/queue\n");
  await app.answer(/^Queued, the next one first\n1 later\n.*: $/m, "1");
  await app.answer(/^later\n1 edit \(e\)\n2 remove \(r\)\n.*: $/m, "e");
  await app.untilQuiet();
  place.openGate();
  await app.untilQuiet();
  app.type("much later\n.\n");
  await app.until(
    /^It is not queued any more: a turn took it, or it was removed elsewhere\.\n[^]*much later\nYour text came back\. /m,
  );
});

test("a line that ends in a backslash goes on in the next one", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  await app.answer(READY, "one\\");
  await app.untilQuiet();
  app.type("two\\\nthree\n");
  await app.until(/^You {2}one\ntwo\nthree\n/m);
});

test("a call that takes long is announced once, and printed when it has ended", async () => {
  using place = new LineFolder();
  const app = place.start("works");
  await app.answer(READY, "go");
  await app.answer(CHOICES, "1");
  await app.until(/^runs execute until \[ -e gate \]; do sleep 0\.05; done; echo worked\n/m);
  place.openGate();
  await app.until(/^done execute until .*; echo worked .*\n {2}worked\nIt worked\.\n/m);
  assert.equal(app.output.match(/^runs /gm)?.length, 1);
});

test("a command of the user runs at once, and its output goes with the next message", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "!echo hi there");
  await app.until(/^hi there\nThe output goes with your next message\.\n/m);
  await app.answer(READY, "explain");
  await app.until(/^You {2}I ran this command:[^]*hi there[^]*explain\n/m);
});

test("an unknown command is not sent", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "/rewnid");
  await app.until(/There is no command \/rewnid\. Did you mean \/rewind\?/);
  assert.doesNotMatch(app.output, /You {2}/);
});

test("a long list is printed by twenty, searched by words, and chosen from by number", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "/letters");
  await app.until(/^Letters\n1 item 1\n[^]*^20 item 20\n1 to 45, Enter for 25 more.*: $/m);
  app.type("\n");
  await app.until(/^21 item 21\n[^]*^40 item 40\n.*5 more.*: $/m);
  app.type("zebra\n");
  await app.until(/^Letters\n1 item 31 zebra\n1, or words to search for \(an empty line closes\): $/m);
  app.type("1\n");
  await app.until(/^chosen 30\n/m);
  await app.answer(READY, "/letters");
  await app.answer(/45,.*: $/m, "45");
  await app.until(/^chosen 44\n/m);
});

test("a rewind shows what it would do, reverts conversation and files, and the text comes back", async () => {
  using place = new LineFolder();
  const app = place.start("edits");
  await app.answer(READY, "write it");
  await app.until(/^Written\.\n/m);
  await app.answer(READY, "write it again");
  await app.until(/^Written again\.\n/m);
  assert.equal(place.read("notes.md"), "second\n");
  await app.answer(READY, "/rewind");
  await app.answer(/^Rewind to before\n1 write it again .*\n2 write it .*\n1 to 2, or.*: $/m, "1");
  await app.answer(/notes\.md −1 \+1\n1 both \(b\)\n2 conversation \(c\)\n3 files \(f\)\n1 to 3 .*: $/m, "b");
  await app.until(/Your text came back\. \/resend sends it as it is\.\n/);
  await app.until(READY);
  assert.equal(place.read("notes.md"), "first\n");
});
