import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ComposerFiles } from "../../src/app/composer-files.ts";
import { emptyEditor } from "../../src/composer/editor.ts";
import { projectFolder, replacePrivateFile } from "../../src/composer/private-file.ts";
import { processMark } from "../../src/composer/process-mark.ts";

const newState = (): string => mkdtempSync(join(tmpdir(), "cinch-composer-"));
const open = (state: string): ComposerFiles => new ComposerFiles({ state, project: "/p", report: assert.fail });
const typed = (text: string) => ({ ...emptyEditor, text, cursor: text.length });

/** Another process that types this at the thread, and stays there. */
function otherAt(state: string, thread: string, text: string): ChildProcess {
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const file = join(projectFolder(state, "/p"), "unsent", `${thread}.${processMark(other.pid!)}.json`);
  replacePrivateFile(file, JSON.stringify({ text, cursor: 0, pastes: {} }));
  return other;
}

test("a second terminal at a thread has a composer of its own, and text of a process that is gone is taken over once", async () => {
  const state = newState();
  const other = otherAt(state, "t", "typed elsewhere");
  const mine = open(state);
  assert.equal(mine.enter("t").text, "");
  mine.save(typed("mine"));
  mine.flush();
  other.kill("SIGKILL");
  await once(other, "exit");
  assert.equal(open(state).enter("t").text, "typed elsewhere");
});

test("the text of a thread that this terminal has left is there for the next that enters it", () => {
  const state = newState();
  const mine = open(state);
  mine.enter("t");
  mine.save(typed("half a thought"));
  assert.equal(mine.enter("u").text, "");
  assert.equal(mine.enter("t").text, "half a thought");
  mine.enter("u");
  assert.deepEqual(readdirSync(join(projectFolder(state, "/p"), "unsent")), ["t.json"]);
});

test("the user learns while typing that unsent text can't be kept, and only once", async () => {
  const state = newState();
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
  assert.match(await reported.promise, /^Unsent text is not saved in .*thread_1\.\d+-\d*\.json: /);
  files.save({ ...emptyEditor, text: "ab" });
  files.flush();
  assert.equal(problems.filter((problem) => problem.startsWith("Unsent")).length, 1);
});
