import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { pbkdf2 } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { composed, edit, emptyEditor, type EditorState } from "../../src/composer/editor.ts";
import { UnsentText } from "../../src/composer/unsent.ts";

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "unsent-")), "thread", "unsent.json");
const write = (...texts: string[]): EditorState =>
  texts.reduce((state, text) => edit(state, { type: "paste", text }, 80), emptyEditor);

/** Runs what is due when it is told to. */
function manual() {
  const due = new Set<() => void>();
  const schedule = (callback: () => void) => {
    due.add(callback);
    return () => due.delete(callback);
  };
  const elapse = () => {
    for (const callback of due) callback();
    due.clear();
  };
  return { schedule, elapse, due };
}

test("unsent text, its cursor and its pastes are there in the next process", () => {
  const file = newFile();
  const state = edit(write("see ", "line\n".repeat(40)), { type: "left" }, 80);
  const unsent = new UnsentText(file);
  unsent.save(state);
  unsent.flush();
  const restored = new UnsentText(file).load()!;
  assert.deepEqual([restored.text, restored.cursor], [state.text, state.cursor]);
  assert.deepEqual(composed(restored), composed(state));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a process that is killed leaves what was typed before", () => {
  const file = newFile();
  const source = (path: string) => JSON.stringify(new URL(`../../src/composer/${path}`, import.meta.url).href);
  const program = `
    import { UnsentText } from ${source("unsent.ts")};
    import { emptyEditor } from ${source("editor.ts")};
    new UnsentText(${JSON.stringify(file)}).save({ ...emptyEditor, text: "half a thought", cursor: 4 });
    setInterval(() => {
      if (process.getBuiltinModule("node:fs").existsSync(${JSON.stringify(file)})) process.kill(process.pid, "SIGKILL");
    }, 10);`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
    timeout: 300_000,
  });
  assert.equal(signal, "SIGKILL");
  assert.equal(new UnsentText(file).load()?.text, "half a thought");
});

const saved = (file: string): string | undefined => new UnsentText(file).load()?.text;

async function untilSaved(file: string, text: string): Promise<void> {
  while (saved(file) !== text) await sleep(5);
}

test("many keys are saved with one write, and no key waits for it", async () => {
  const { schedule, elapse, due } = manual();
  const file = newFile();
  const unsent = new UnsentText(file, { schedule });
  for (const text of ["a", "ab", "abc"]) unsent.save(write(text));
  assert.equal(due.size, 1);
  elapse();
  assert.ok(!existsSync(file));
  await untilSaved(file, "abc");
  unsent.save(write("abcd"));
  elapse();
  unsent.save(write("abcde"));
  elapse();
  assert.equal(saved(file), "abc");
  await untilSaved(file, "abcde");
  assert.deepEqual(readdirSync(dirname(file)), ["unsent.json"]);
});

/** Keeps the threads that write files busy, so that each step of a write in the background waits for its turn. */
async function withBusyThreads(work: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const task = promisify(pbkdf2);
  const busy = Array.from({ length: 6 }, async () => {
    while (!over.signal.aborted) await task("password", "salt", 1_000, 32, "sha256");
  });
  await work().finally(() => over.abort());
  await Promise.all(busy);
}

test("what is flushed while a copy is written takes its place at once, and for good", async () => {
  const { schedule, elapse } = manual();
  const file = newFile();
  const unsent = new UnsentText(file, { schedule });
  mkdirSync(dirname(file));
  await withBusyThreads(async () => {
    for (let round = 0; round < 60; round++) {
      unsent.save(write(`old ${round}`));
      elapse();
      // The threads take work in order: after each turn of ours, the next step of the write waits.
      for (let step = 0; step < round % 10; step++) await stat(dirname(file));
      // Of every third, nothing was typed since.
      const text = ["", `old ${round}`, `new ${round}`][round % 3]!;
      if (round % 3 !== 1) unsent.save(write(text));
      unsent.flush();
      assert.equal(saved(file), text || undefined);
      for (let step = 0; step < 4; step++) await stat(dirname(file));
      assert.equal(saved(file), text || undefined);
    }
  });
  assert.equal(unsent.problem, null);
});

test("an empty composer removes the copy, but not that of another process", () => {
  const file = newFile();
  const [first, second] = [new UnsentText(file), new UnsentText(file)];
  const save = (unsent: UnsentText, text: string) => {
    unsent.save(write(text));
    unsent.flush();
  };
  save(first, "mine");
  save(second, "theirs");
  save(first, "");
  assert.equal(new UnsentText(file).load()?.text, "theirs");
  save(second, "");
  assert.equal(existsSync(file), false);
});

test("an image is not copied, and its label does not come back as text", () => {
  const file = newFile();
  const image = { mediaType: "image/png", data: new Uint8Array([1]) };
  const state = edit(edit(write("look: "), { type: "attach", file: image }, 80), { type: "insert", text: "!" }, 80);
  const unsent = new UnsentText(file);
  unsent.save(state);
  unsent.flush();
  const restored = new UnsentText(file).load()!;
  assert.deepEqual([restored.text, restored.cursor], ["look: !", 7]);
});

test("a copy that is damaged, or can't be written, stops nothing", async () => {
  const file = newFile();
  assert.equal(new UnsentText(file).load(), undefined);
  mkdirSync(dirname(file), { recursive: true });
  for (const contents of [
    "",
    "{",
    "null",
    '{"text":5}',
    '{"text":"a","cursor":-1,"pastes":{}}',
    '{"text":"a","cursor":0,"pastes":{"b":1}}',
  ]) {
    writeFileSync(file, contents);
    assert.equal(new UnsentText(file).load(), undefined, contents);
  }
  const blocked = new UnsentText(join(file, "below", "a file"));
  blocked.save(write("text"));
  blocked.flush();
  assert.match(blocked.problem!, /^Unsent text is not saved in /);
  const { schedule, elapse } = manual();
  const late = new UnsentText(join(file, "below", "a file"), { schedule });
  late.save(write("text"));
  elapse();
  while (late.problem === null) await sleep(5);
  assert.match(late.problem, /^Unsent text is not saved in /);
});
