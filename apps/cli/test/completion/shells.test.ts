import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { completionScript } from "../../src/completion/completion-script.ts";
import { inherited, Place, threadIn } from "../cli.ts";
import { MAIN } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";

const run = promisify(execFile);
const missing = (shell: string): string | false =>
  spawnSync(shell, ["-c", "exit 0"]).status === 0 ? false : `no ${shell} here`;

/** A folder in which `cinch` is a command, with one thread. */
async function installed(place: Place): Promise<{ id: string; env: Record<string, string> }> {
  const id = threadIn(await place.run(["run", "hello"]));
  const program = join(place.folder, "cinch");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = { ...inherited(), HOME: place.home, PATH: [place.folder, inherited()["PATH"]].join(delimiter) };
  return { id, env };
}

for (const shell of ["bash", "zsh", "fish"] as const)
  test(`the script for ${shell} asks cinch, keeps words apart, and prints no error into the line`, () => {
    const script = completionScript(shell);
    assert.match(script, /\bcinch complete -- .*"\S+" 2>\/dev\/null/);
    assert.match(script, /^.*\b(complete|compdef)\b.* cinch\b/m);
    assert.equal(script.replace(/\\./g, "").split('"').length % 2, 1, "a quote is open");
  });

test("bash completes commands, models and threads with the printed script", async () => {
  await using place = new Place();
  const { id, env } = await installed(place);
  const lines = [
    "source <(cinch completion bash)",
    'try() { COMP_WORDS=(cinch "$@"); COMP_CWORD=$#; _cinch; echo "${COMPREPLY[@]}"; }',
    "try thr",
    "try run --model anthropic/",
    `try threads show ${id.slice(0, 10)}`,
    "complete -p cinch",
  ];
  const { stdout, stderr } = await run("bash", ["--norc", "-c", lines.join("\n")], { cwd: place.folder, env });
  assert.equal(stderr, "");
  const [command, model, thread, registered] = stdout.split("\n");
  assert.deepEqual([command, thread], ["threads", id]);
  assert.match(model!, /^anthropic\/claude/);
  assert.equal(registered, "complete -o bashdefault -o default -F _cinch cinch");
});

test(
  "fish completes commands, models, threads and files with the printed script",
  { skip: missing("fish") },
  async () => {
    await using place = new Place();
    const { id, env } = await installed(place);
    writeFileSync(join(place.folder, "my.db"), "");
    const typed = ["thr", "run --model=anthropic/", `threads show ${id.slice(0, 10)}`, "run --db ./my", "completion "];
    const lines = ["cinch completion fish | source", ...typed.map((words) => `complete -C "cinch ${words}"; echo .`)];
    const { stdout, stderr } = await run("fish", ["--no-config", "-c", lines.join("\n")], { cwd: place.folder, env });
    assert.equal(stderr, "");
    const found = stdout.split("\n.\n").map((one) => one.split("\n").map((line) => line.split("\t")[0]!));
    assert.deepEqual(found[0], ["threads"]);
    assert.match(found[1]![0]!, /^--model=anthropic\/claude/);
    assert.deepEqual([found[2], found[3]], [[id], ["./my.db"]]);
    assert.deepEqual(found[4]!.toSorted(), ["bash", "fish", "zsh"]);
  },
);

for (const how of ["sourced after compinit", "as a file in $fpath"] as const)
  test(
    `zsh completes commands, models, threads and files, with the script ${how}`,
    { skip: missing("zsh") },
    async () => {
      await using place = new Place();
      const { id, env } = await installed(place);
      writeFileSync(join(place.folder, "my.db"), "");
      mkdirSync(join(place.folder, "functions"));
      writeFileSync(join(place.folder, "functions/_cinch"), completionScript("zsh"));
      const setUp = {
        "sourced after compinit": "compinit -D; source <(cinch completion zsh)",
        "as a file in $fpath": "fpath=($PWD/functions $fpath); compinit -D",
      };
      using terminal = new PseudoTerminal({ ...env, PS1: "$ " });
      terminal.type(`cd '${place.folder}' && PS1='%% ' exec zsh -f -i\r`);
      await terminal.until(/^%/m);
      terminal.type(`autoload -U compinit; ${setUp[how]}; clear; echo set up\r`);
      await terminal.until(/^set up/m);
      /** The word that a tab makes of what is typed. */
      const completed = async (typed: string, shown: RegExp): Promise<void> => {
        terminal.type(`${typed}\t`);
        await terminal.until(shown);
        terminal.type("\u0015");
      };
      await completed("cinch thr", /cinch threads +$/m);
      await completed("cinch run --model anthropic/", /--model anthropic\/claude\S+ +$/m);
      await completed("cinch run --model=anthropic/", /--model=anthropic\/claude\S+ +$/m);
      await completed(`cinch threads show ${id.slice(0, 10)}`, new RegExp(`show ${id} +$`, "m"));
      await completed("cinch run --db=./my", /--db=\.\/my\.db +$/m);
      // The name of a model follows without a space.
      terminal.type("cinch run --model ollam	x");
      await terminal.until(/--model ollama\/x/);
    },
  );
