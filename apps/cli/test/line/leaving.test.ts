import assert from "node:assert/strict";
import { test } from "node:test";
import { LineFolder, READY } from "./line-process.ts";

test("all that a pipe has given is answered before the app leaves, even a last line without an end", async () => {
  using place = new LineFolder();
  place.openGate();
  const app = place.start("streams");
  app.child.stdin.end("hello\nthere");
  assert.equal(await app.ended, 0);
  assert.match(
    app.output,
    /^You {2}hello\n(?:.*\n)*?The second one is long\.\n(?:.*\n)*?You {2}there\n(?:.*\n)*?Second answer\.\nTo come back: /m,
  );
});

test("each line of a pipe is carried out when the one before it is answered", async () => {
  using place = new LineFolder();
  place.openGate();
  const app = place.start("streams");
  app.child.stdin.end("hello\n/rename First\n/new\nnext\n/rename Second\n/threads\n");
  assert.equal(await app.ended, 0);
  const order = /You {2}\w+|The second one is long|First|\d Second|\d First/g;
  assert.deepEqual(app.output.match(order), [
    "You  hello",
    "The second one is long",
    "First",
    "You  next",
    "The second one is long",
    "1 Second",
    "2 First",
  ]);
});

test("the lines of a pipe that follow a command are its answers only if they can't be mistaken", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  app.child.stdin.end("/letters\n2\n/rename X\n");
  assert.equal(await app.ended, 0);
  assert.match(app.output, /^1 item 1\n(?:.*\n)*"2" was typed before this question was shown[^]*^chosen undefined\n/m);
});

test("an interrupt drops the lines of a pipe that were to follow", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  app.type("hello\nand then\n");
  await app.until(/^You {2}hello\n/m);
  await app.untilQuiet();
  app.child.kill("SIGINT");
  await app.until(/interrupted[^]*^build> $/m);
  assert.equal(await app.leave(), 0);
  assert.doesNotMatch(app.output, /and then/);
});

test("the end of a pipe ends a text that was to be continued", async () => {
  using place = new LineFolder();
  place.openGate();
  const app = place.start("streams");
  app.child.stdin.end("hello\\\n");
  assert.equal(await app.ended, 0);
  assert.match(app.output, /^You {2}hello\n(?:.*\n)*?The second one is long\.\n/m);
});

test("the end of a pipe in the middle of a turn waits for its answer, and for that of a queued message", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "hello there");
  await app.until(/^The first paragraph\.\n/m);
  app.child.stdin.end("/queue and then");
  await app.until(/^Queued\.\n/m);
  await app.untilQuiet();
  place.openGate();
  assert.equal(await app.ended, 0);
  assert.match(app.output, /^The second one is long\.\n(?:.*\n)*?You {2}and then\n(?:.*\n)*?Second answer\.\n/m);
  assert.doesNotMatch(app.output, /The turn is kept/);
});

test("a question after the end of a pipe is printed, and the app leaves with the turn kept", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  app.child.stdin.end("go\n");
  assert.equal(await app.ended, 0);
  assert.match(app.output, /^│ echo approved > proof\.txt\n1 approve \(y\)\n(?:.*\n)*The turn is kept: /m);
  assert.equal(place.has("proof.txt"), false);
});

test("a turn that failed is printed before the app leaves at the end of a pipe", async () => {
  using place = new LineFolder();
  const app = place.start("fails");
  app.child.stdin.end("go\n");
  assert.equal(await app.ended, 0);
  assert.match(app.output, /the provider is on fire/);
});

test("a list that is open at the end of a pipe is closed", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  app.child.stdin.end("/letters\n");
  assert.equal(await app.ended, 0);
  assert.match(app.output, /^1 item 1\n(?:.*\n)*chosen undefined\n/m);
});

test("an approval is answered after a restart", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.until(/^1 to 4: $/m);
  await app.leave();
  const again = place.start("asks", { args: ["--continue"] });
  await again.until(/^│ echo approved > proof\.txt\n/m);
  await again.answer(/^1 to 4: $/m, "1");
  await again.until(/^The command is done\.\n/m);
});

test("an interrupt stops the turn, and two leave", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "begin");
  await app.until(/^The first paragraph\.\n/m);
  app.child.kill("SIGINT");
  await app.until(/^Stopping\. Ctrl-C again leaves\.\n[^]*interrupted/m);
  await app.answer(READY, "!true");
  await app.until(READY);
  await app.untilQuiet();
  app.child.kill("SIGINT");
  await app.until(/^Ctrl-C again leaves\.\n/m);
  await app.untilQuiet();
  app.child.kill("SIGINT");
  assert.equal(await app.ended, 0);
});

test("an interrupt closes a list, and the turn goes on", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  await app.answer(READY, "begin");
  await app.until(/^You {2}begin\n/m);
  app.type("/letters\n");
  await app.until(/25 more.*: $/m);
  app.child.kill("SIGINT");
  await app.until(/^chosen undefined\n/m);
  assert.doesNotMatch(app.output, /Stopping/);
});

test("a thread without a message leaves no trace", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  await app.until(READY);
  assert.equal(await app.leave(), 0);
  assert.doesNotMatch(app.output, /--resume/);
});

test("a signal ends the app with its exit code, and the turn is kept", async () => {
  using place = new LineFolder();
  const app = place.start("hangs");
  await app.answer(READY, "begin");
  await app.until(/^You {2}begin\n/m);
  app.child.kill("SIGTERM");
  assert.equal(await app.ended, 143);
  assert.match(app.output, /The turn is kept/);
});
