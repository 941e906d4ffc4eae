import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ComposerFiles } from "../../src/app/composer-files.ts";
import { emptyEditor } from "../../src/composer/editor.ts";
import { projectFolder } from "../../src/composer/private-file.ts";

test("the user learns while typing that unsent text can't be kept, and only once", async () => {
  const state = mkdtempSync(join(tmpdir(), "cinch-composer-"));
  // A file stands where the folder should be.
  writeFileSync(join(state, "projects"), "");
  assert.equal(dirname(projectFolder(state, "/p")), join(state, "projects"));
  const reported = Promise.withResolvers<string>();
  const problems: string[] = [];
  const report = (problem: string) => {
    problems.push(problem);
    if (problem.startsWith("Unsent")) reported.resolve(problem);
  };
  const files = new ComposerFiles({ state, project: "/p", report });
  files.enter("thread_1");
  files.save({ ...emptyEditor, text: "a" });
  assert.match(await reported.promise, /^Unsent text is not saved in .*thread_1\.json: /);
  files.save({ ...emptyEditor, text: "ab" });
  files.flush();
  assert.equal(problems.filter((problem) => problem.startsWith("Unsent")).length, 1);
});
