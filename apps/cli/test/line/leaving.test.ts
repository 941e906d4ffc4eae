import assert from "node:assert/strict";
import { test } from "node:test";
import { LineFolder, READY } from "./line-process.ts";

test("the end of the input in the middle of a turn leaves, and the turn goes on when the thread is opened again", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  await app.answer(READY, "hello there");
  await app.until(/^The first paragraph\.\n/m);
  assert.equal(await app.leave(), 0);
  assert.match(
    app.output,
    /The turn is kept: it goes on when the thread is opened again\.\nTo come back: cinch --resume/,
  );
  place.openGate();
  const again = place.start("streams", { args: ["--continue"] });
  await again.until(/^Thread: hello there\n(?:.*\n)*?You {2}hello there\n/m);
  await again.until(/^The second one is long\.\n/m);
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
