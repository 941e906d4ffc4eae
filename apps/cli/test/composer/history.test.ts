import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { PromptHistory } from "../../src/composer/history.ts";
import { searchHistory, walkHistory, type HistoryWalk } from "../../src/composer/history-walk.ts";
import { projectFolder } from "../../src/composer/private-file.ts";

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "history-")), "deep", "history.jsonl");

test("what was sent is there in the next run, in order and whatever it contains", () => {
  const file = newFile();
  const sent = ["one", "two\nlines", 'quotes " and \\', "漢字 👨‍👩‍👧", "a\u2028b"];
  const first = new PromptHistory(file);
  for (const text of sent) first.add(text);
  assert.deepEqual(new PromptHistory(file).entries, sent);
  assert.equal(first.problem, null);
});

test("only the user can read the history", () => {
  const file = newFile();
  new PromptHistory(file).add("secret");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, "..")).mode & 0o777, 0o700);
});

test("two runs add to one history", () => {
  const file = newFile();
  const [first, second] = [new PromptHistory(file), new PromptHistory(file)];
  first.add("a");
  second.add("b");
  first.add("c");
  assert.deepEqual(new PromptHistory(file).entries, ["a", "b", "c"]);
});

test("the same text in a row, and an empty one, are not added", () => {
  const history = new PromptHistory(newFile());
  for (const text of ["a", "a", " ", "b", "a"]) history.add(text);
  assert.deepEqual(history.entries, ["a", "b", "a"]);
});

test("the history is bounded, in memory and in the file", () => {
  const file = newFile();
  const history = new PromptHistory(file);
  for (let at = 0; at < 2_500; at++) history.add(`entry ${at}`);
  assert.equal(history.entries.length, 1_000);
  const next = new PromptHistory(file);
  assert.deepEqual(next.entries, history.entries);
  assert.equal(readFileSync(file, "utf8").split("\n").length, 1_001);
  next.add("x".repeat(200_000));
  assert.equal(next.entries.at(-1)?.length, 200_000);
  assert.equal(new PromptHistory(file).entries.at(-1), "entry 2499");
});

test("a large file is read from its end, and made smaller", () => {
  const file = newFile();
  new PromptHistory(file).add("first");
  for (let at = 0; at < 60; at++) appendFileSync(file, `${JSON.stringify({ text: `${at} ${"x".repeat(90_000)}` })}\n`);
  assert.ok(new PromptHistory(file).entries.at(-1)?.startsWith("59 "));
  assert.ok(statSync(file).size < 3 * 1024 * 1024);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("lines that are no entries are skipped", () => {
  const file = newFile();
  new PromptHistory(file).add("good");
  appendFileSync(file, '{"text":"cut\nnull\n42\n{"text":5}\n{"text":"after"}\n');
  assert.deepEqual(new PromptHistory(file).entries, ["good", "after"]);
});

test("an entry that a crash cut does not take the next one with it", () => {
  const file = newFile();
  new PromptHistory(file).add("good");
  appendFileSync(file, '{"text":"cu');
  new PromptHistory(file).add("next");
  assert.deepEqual(new PromptHistory(file).entries, ["good", "next"]);
});

test("a history that can't be written works in this run, and says why it is not kept", () => {
  const folder = mkdtempSync(join(tmpdir(), "history-"));
  writeFileSync(join(folder, "file"), "");
  const history = new PromptHistory(join(folder, "file", "history.jsonl"));
  history.add("a");
  assert.deepEqual(history.entries, ["a"]);
  assert.match(history.problem!, /^The history is not saved in .*history\.jsonl: /);
});

test("each project has its own folder, whichever way its path is written", () => {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  assert.equal(projectFolder("/state", folder), projectFolder("/state", `${folder}/../${folder.split("/").at(-1)}`));
  assert.notEqual(projectFolder("/state", folder), projectFolder("/state", tmpdir()));
});

test("Up and Down go through the history, and bring back what was being written", () => {
  const entries = ["one", "two"];
  const up = walkHistory(null, { entries, text: "unsent", by: -1 })!;
  assert.equal(up.text, "two");
  const top = walkHistory(up.walk, { entries, text: "two, changed", by: -1 })!;
  assert.equal(top.text, "one");
  assert.equal(walkHistory(top.walk, { entries, text: "one", by: -1 }), undefined);
  const down = walkHistory(top.walk, { entries, text: "one", by: 1 })!;
  assert.equal(down.text, "two, changed");
  assert.equal(walkHistory(down.walk, { entries, text: down.text, by: 1 })!.text, "unsent");
});

test("no walk through the history loses a text", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom(-1 as const, 1 as const), fc.string()), {
    maxLength: 20,
    size: "max",
  });
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 5, size: "max" }), steps, (entries, all) => {
      const texts = [...entries, ""];
      let at = entries.length;
      let walk: HistoryWalk | null = null;
      for (const [by, typed] of all) {
        texts[at] = typed;
        const step = walkHistory(walk, { entries, text: typed, by });
        if (!step) continue;
        at += by;
        ({ walk } = step);
        assert.equal(step.text, texts[at]);
      }
    }),
  );
});

test("a search finds the newest entry, then older ones that differ", () => {
  const entries = ["fix Tests", "other", "run tests", "run tests"];
  const first = searchHistory(entries, "test")!;
  assert.deepEqual(first, { index: 3, text: "run tests", at: 4 });
  assert.deepEqual(searchHistory(entries, "test", { before: first.index, except: first.text }), {
    index: 0,
    text: "fix Tests",
    at: 4,
  });
  assert.equal(searchHistory(entries, "Run"), undefined);
  assert.equal(searchHistory(entries, ""), undefined);
});
