import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { inherited, MAIN, Place, threadIn } from "../cli.ts";

const bash = promisify(execFile);

test("bash completes commands, models and threads with the printed script", async () => {
  await using place = new Place();
  const id = threadIn(await place.run(["run", "hello"]));
  const program = join(place.folder, "cinch");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  const lines = [
    "source <(cinch completion bash)",
    'try() { COMP_WORDS=(cinch "$@"); COMP_CWORD=$#; _cinch; echo "${COMPREPLY[@]}"; }',
    "try thr",
    "try run --model anthropic/",
    `try threads show ${id.slice(0, 10)}`,
    "complete -p cinch",
  ];
  const env = { ...inherited(), HOME: place.home, PATH: [place.folder, inherited()["PATH"]].join(delimiter) };
  const { stdout, stderr } = await bash("bash", ["--norc", "-c", lines.join("\n")], { cwd: place.folder, env });
  assert.equal(stderr, "");
  const [command, model, thread, registered] = stdout.split("\n");
  assert.deepEqual([command, thread], ["threads", id]);
  assert.match(model!, /^anthropic\/claude/);
  assert.equal(registered, "complete -o bashdefault -o default -F _cinch cinch");
});
