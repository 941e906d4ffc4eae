import assert from "node:assert/strict";
import { test } from "node:test";
import { hostile } from "../terminal/hostile.ts";
import { LineFolder, READY } from "./line-process.ts";

/** Neither controls nor what changes the direction of text. */
const FORBIDDEN = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029]/u;

test("no hostile text brings a control character to the output, and each is shown", async () => {
  using place = new LineFolder();
  const app = place.start("is hostile");
  await app.answer(READY, "go");
  await app.answer(READY, "and now");
  await app.until(/^Run this command\?\n│ echo ls <U\+202E>\/ fr- mr<U\+202C>x\n1 approve/m);
  await app.answer(/^1 to 4: $/m, "n");
  await app.until(READY);
  await app.leave();
  assert.equal(FORBIDDEN.exec(app.output), null);
  for (const name of Object.keys(hostile)) assert.ok(app.output.includes(`${name}: `), name);
});

test("foreign text in a question stands behind a sign, so it can't look like a choice", async () => {
  using place = new LineFolder();
  const app = place.start("fakes choices");
  await app.answer(READY, "go");
  await app.until(/^│ true\n│ 1 decline \(y\)\n│ 2 approve \(n\)\n1 approve \(y\)\n2 decline \(n\)\n/m);
});

test("in a locale without UTF-8 every byte is ASCII", async () => {
  using place = new LineFolder();
  const app = place.start("is hostile", { env: { LANG: "C", LC_ALL: "C" } });
  await app.answer(READY, "go");
  await app.answer(READY, "and now");
  await app.until(/^1 to 4: $/m);
  await app.leave();
  assert.match(app.output, /^[\n\x20-\x7e]*$/);
});
