import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, type CandidateSource } from "../../src/completion/candidates.ts";

const source: CandidateSource = async (kind, db) => [{ value: `${kind}-of-${db ?? "default"}`, about: "" }];

const completed = async (...words: string[]): Promise<string[]> =>
  (await candidates(words, source)).map(({ value }) => value);

test("commands complete, and so do their second words", async () => {
  assert.deepEqual(await completed("th"), ["threads"]);
  assert.deepEqual(await completed("threads", ""), ["list", "show", "export", "delete"]);
  assert.deepEqual(await completed("token", ""), ["list", "add", "revoke"]);
  assert.deepEqual(await completed("help", "co"), ["completion"]);
  assert.deepEqual(await completed("completion", ""), ["bash", "zsh", "fish"]);
  assert.ok((await completed("")).includes("run"));
  assert.ok(!(await completed("")).includes("complete"));
});

test("options are those of the command", async () => {
  assert.deepEqual(await completed("run", "--mo"), ["--model", "--mode"]);
  assert.deepEqual(await completed("threads", "export", "--f"), ["--format"]);
  assert.deepEqual(await completed("serve", "--re"), ["--read-only"]);
  assert.deepEqual(await completed("--pl"), ["--plain"]);
  assert.deepEqual(await completed("run", "--pl"), []);
});

test("the value of an option completes to what it takes", async () => {
  assert.deepEqual(await completed("run", "--model", ""), ["models-of-default"]);
  assert.deepEqual(await completed("run", "--model", "=", "mod"), ["models-of-default"]);
  assert.deepEqual(await completed("run", "--model", "="), ["models-of-default"]);
  assert.deepEqual(await completed("run", "--model=mod"), ["--model=models-of-default"]);
  assert.deepEqual(await completed("run", "--model=x"), []);
  assert.deepEqual(await completed("run", "--yolo=x"), []);
  assert.deepEqual(await completed("--resume", ""), ["threads-of-default"]);
  assert.deepEqual(await completed("threads", "export", "x", "--format", "h"), ["html"]);
  assert.deepEqual(await completed("threads", "export", "x", "-o", ""), []);
});

test("ids come from the database that is named", async () => {
  assert.deepEqual(await completed("threads", "show", ""), ["threads-of-default"]);
  assert.deepEqual(await completed("threads", "--db", "x.db", "show", ""), ["threads-of-x.db"]);
  assert.deepEqual(await completed("threads", "--db=x.db", "show", ""), ["threads-of-x.db"]);
  assert.deepEqual(await completed("threads", "show", "a", ""), []);
  assert.deepEqual(await completed("abort", ""), ["threads-of-default"]);
  assert.deepEqual(await completed("answer", ""), ["pending-of-default"]);
  assert.deepEqual(await completed("answer", "3f", "a"), ["always"]);
  assert.deepEqual(await completed("token", "revoke", ""), ["tokens-of-default"]);
  assert.deepEqual(await completed("nothing", ""), []);
});
