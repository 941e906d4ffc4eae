import assert from "node:assert/strict";
import { test } from "node:test";
import { LineFolder, READY } from "./line-process.ts";

const CHOICES = /^1 to \d: $/m;

test("what comes together with an answer waits until a question can take it, or until the turn has ended", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.until(CHOICES);
  app.type("r\nbecause no\nhello there\n");
  await app.until(/declined\n {2}because no\n/);
  await app.until(/^The command is done\.\n/m);
  await app.until(/^You {2}hello there\n/m);
  assert.doesNotMatch(app.output, /You {2}because no/);
});

test("while a list is open, the lines of a pipe are carried out one after the other", async () => {
  using place = new LineFolder();
  const app = place.start("streams");
  app.child.stdin.end("/letters\nhello\n/rename Done\nthere\n");
  await app.until(/25 more.*: $/m);
  await app.untilQuiet();
  assert.doesNotMatch(app.output, /Done/);
  place.openGate();
  assert.equal(await app.ended, 0);
  const order = /You {2}\w+|"Done"|The second one is long|Second answer/g;
  assert.deepEqual(app.output.match(order), [
    '"Done"',
    "You  hello",
    "The second one is long",
    "You  there",
    "Second answer",
  ]);
});

test("the lines of a pipe answer a question of an earlier process", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.until(CHOICES);
  await app.leave();
  const again = place.start("asks", { args: ["--continue"] });
  await again.until(CHOICES);
  await again.untilQuiet();
  again.type("r\nbecause no\n");
  await again.until(/declined\n {2}because no\n/);
});

test("a pipe gets all of a long text at once, and the next line is no answer to it", async () => {
  using place = new LineFolder();
  const app = place.start("counts");
  await app.answer(READY, "go");
  await app.answer(CHOICES, "1");
  await app.until(/^Counted\.\n/m);
  await app.until(READY);
  app.type("/output\nhello there\n");
  await app.until(/^The newest call\n(?:.*\n)*? *1\n(?:.*\n)*? *60\n/m);
  await app.until(/^You {2}hello there\n(?:.*\n)*?Heard\.\n/m);
});
