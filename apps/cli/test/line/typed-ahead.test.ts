import assert from "node:assert/strict";
import { test } from "node:test";
import { LineFolder, READY } from "./line-process.ts";

const QUESTION = /^│ echo approved > proof\.txt\n(?:\d .*\n)+/m;
const CHOICES = /^1 to 4: $/m;

test("a line that was typed before the question was shown never answers it", async () => {
  using place = new LineFolder();
  const app = place.start("asks late", { env: { GUARD: "guard" } });
  await app.answer(READY, "go");
  await app.until(/^You {2}go\n/m);
  app.type("y\n");
  await app.untilQuiet();
  place.openGate();
  await app.until(QUESTION);
  // Sooner than a person can read.
  app.type("1\n");
  await app.until(/^"1" was typed before this question was shown, so it is not an answer\.\n/m);
  place.openGate("guard");
  assert.equal(place.has("proof.txt"), false);
  await app.answer(CHOICES, "1");
  await app.until(/^The command is done\.\n/m);
  assert.equal(place.read("proof.txt"), "approved\n");
});

test("a line that was begun before the question was shown never answers it, whenever it ends", async () => {
  using place = new LineFolder();
  const app = place.start("asks late");
  await app.answer(READY, "go");
  await app.until(/^You {2}go\n/m);
  app.type("y");
  await app.untilQuiet();
  place.openGate();
  await app.until(CHOICES);
  app.type("\n");
  await app.until(/^"y" was typed before/m);
  assert.equal(place.has("proof.txt"), false);
});

test("a text that was begun before the question was shown is a message, and the question is asked again", async () => {
  using place = new LineFolder();
  const app = place.start("asks late");
  await app.answer(READY, "go");
  await app.until(/^You {2}go\n/m);
  app.type("also ren");
  await app.untilQuiet();
  place.openGate();
  await app.until(CHOICES);
  app.type("ame it\n");
  await app.until(QUESTION);
  await app.answer(CHOICES, "y");
  await app.until(/^You {2}also rename it\n/m);
  await app.until(/^The command is done\.\n/m);
});

test("a command of the app and a text after a space are no answers", async () => {
  using place = new LineFolder();
  const app = place.start("asks");
  await app.answer(READY, "go");
  await app.answer(CHOICES, " y");
  await app.until(QUESTION);
  await app.answer(CHOICES, "/letters");
  await app.answer(/more.*: $/m, "2");
  await app.until(/^chosen 1\n/m);
  await app.until(QUESTION);
  assert.equal(place.has("proof.txt"), false);
  await app.answer(CHOICES, "y");
  await app.until(/^The command is done\.\n/m);
});
