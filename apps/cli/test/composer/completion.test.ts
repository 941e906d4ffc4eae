import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  completedText,
  completionChoices,
  completionTarget,
  type CompletionSource,
} from "../../src/composer/completion.ts";

const source: CompletionSource = {
  files: [
    "src/",
    "src/sum.ts",
    "src/summary.ts",
    "test/sum.test.ts",
    "my notes.md",
    "docs/a b/",
    "README.md",
    "mail/@me and you.md",
  ],
  commands: [
    { name: "model", description: "choose a model" },
    { name: "mode", description: "choose a mode" },
    { name: "memory", description: "show the memory" },
  ],
};
const labels = (text: string): string[] => {
  const target = completionTarget(text, text.length);
  return target ? completionChoices(target, source).map((choice) => choice.label) : [];
};
const afterChoice = (text: string, cursor = text.length): { text: string; cursor: number } => {
  const target = completionTarget(text, cursor)!;
  return completedText(text, target, completionChoices(target, source)[0]!);
};

test("a slash at the start of the text completes commands, the exact one first", () => {
  assert.deepEqual(labels("/mode"), ["/mode", "/model"]);
  assert.deepEqual(labels("/mem"), ["/memory"]);
  assert.deepEqual(labels("see /mode"), []);
  assert.deepEqual(labels("/mode x"), []);
  assert.deepEqual(afterChoice("/mem"), { text: "/memory ", cursor: 8 });
});

test("an @ after white space completes files, by any part of their path", () => {
  assert.deepEqual(labels("fix @sum"), ["src/sum.ts", "src/summary.ts", "test/sum.test.ts"]);
  assert.deepEqual(
    labels("fix @sst"),
    ["src/sum.ts", "src/summary.ts", "test/sum.test.ts"].filter((path) => /s.*s.*t/.test(path)),
  );
  assert.deepEqual(labels("mail me@sum"), []);
  assert.deepEqual(afterChoice("fix @README please", 11), { text: "fix @README.md please", cursor: 15 });
});

test("a folder stays open for what is in it", () => {
  assert.deepEqual(afterChoice("@src"), { text: "@src/", cursor: 5 });
  assert.deepEqual(labels("@src/"), ["src/", "src/sum.ts", "src/summary.ts"]);
});

test("a path with spaces is quoted", () => {
  assert.deepEqual(afterChoice("@notes"), { text: '@"my notes.md" ', cursor: 15 });
  assert.deepEqual(afterChoice("@docs"), { text: '@"docs/a b/', cursor: 11 });
  assert.deepEqual(labels('@"my no'), ["my notes.md"]);
  assert.deepEqual(afterChoice('see @"mail/@me an'), { text: 'see @"mail/@me and you.md" ', cursor: 27 });
});

test("a choice replaces what was typed of it, and nothing else", () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("@s", "@README"), fc.string(), (before, typed, after) => {
      const text = `${before} ${typed}${after}`;
      const target = completionTarget(text, before.length + 1 + typed.length);
      if (!target) return;
      assert.match(text.slice(target.start, target.end), /^@"?/);
      assert.equal(text.slice(target.start, target.end).replace(/^@"?/, ""), target.query);
      const [choice] = completionChoices(target, source);
      // A quote that stands open before it makes it a part of a path.
      if (!choice) return assert.match(target.query, / @/);
      const completed = completedText(text, target, choice);
      assert.ok(completed.text.startsWith(text.slice(0, target.start)));
      assert.ok(completed.text.endsWith(after));
      assert.ok(completed.text.slice(0, completed.cursor).endsWith(choice.insert));
    }),
  );
});

test("of 100,000 files the best ten come in a moment", () => {
  const files = Array.from({ length: 100_000 }, (_, at) => `packages/p${at % 50}/src/module-${at}.ts`);
  const started = performance.now();
  const choices = completionChoices(completionTarget("@module-99999", 13)!, { files, commands: [] });
  assert.deepEqual(choices.map((choice) => choice.label)[0], "packages/p49/src/module-99999.ts");
  assert.equal(choices.length <= 10, true);
  assert.ok(performance.now() - started < 30_000);
});
