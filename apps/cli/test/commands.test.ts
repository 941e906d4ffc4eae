import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { inherited } from "./cli.ts";
import { CINCH } from "./programs.ts";

const root = join(import.meta.dirname, "../../..");
/** As in the repository, from the sources. */
const START = [process.execPath, "-C", "@cinch/source", join(root, "apps/cli/bin.js")];

interface Typed {
  code: number | null;
  /** Both streams. */
  output: string;
}

/** A folder with a repository in it, in which `cinch` is on PATH and `npm start` starts it. */
class Terminal {
  readonly folder = mkdtempSync(join(tmpdir(), "cinch-typed-"));

  constructor() {
    mkdirSync(this.#path("bin"));
    mkdirSync(this.#path("tmp"));
    writeFileSync(this.#path("bin/cinch"), `#!/bin/sh\nexec '${process.execPath}' '${CINCH}' "$@"\n`);
    chmodSync(this.#path("bin/cinch"), 0o755);
    writeFileSync(this.#path("package.json"), JSON.stringify({ scripts: { start: START.join(" ") } }));
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd: this.folder });
    git("init", "--quiet");
    git("commit", "--quiet", "--allow-empty", "--message", "Begin");
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  /** Types a line into a fresh shell. With `until`, the shell is closed as soon as that was printed. */
  type(line: string, { until }: { until?: RegExp } = {}): Promise<Typed> {
    const { PATH, ...others } = inherited();
    const path = [this.#path("bin"), dirname(process.execPath), PATH].join(delimiter);
    const env = { ...others, PATH: path, HOME: this.folder, TMPDIR: this.#path("tmp"), CINCH_OFFLINE_DELAY_MS: "0" };
    const stdio = ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"];
    const shell = spawn("bash", ["-c", `${line}\nexit $?`], { cwd: this.folder, env, stdio, detached: true });
    let output = "";
    return new Promise((resolve, reject) => {
      const read = (text: string) => {
        output += text;
        if (until?.test(output)) process.kill(-shell.pid!, "SIGKILL");
      };
      shell.stdout.setEncoding("utf8").on("data", read);
      shell.stderr.setEncoding("utf8").on("data", read);
      shell.once("error", reject);
      shell.once("close", (code) => resolve({ code, output }));
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The lines in code blocks of a document that are commands. */
function commandsIn(document: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(/^```\n(.*?)^```$/gms)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => /^(cinch|CRASH_AT|git|npm start)\b/.test(line));
}

/** What a command must print; for the others the exit code is enough. */
const printed: Record<string, RegExp> = {
  'cinch run "what time is it and what is 3*7?"': /3\*7 = 21/,
  'cinch run --continue "what did I say first?"': /First you said: "what time is it and what is 3\*7\?"/,
  "cinch run --continue": /there is nothing to continue/,
};

const isCrash = (line: string | undefined): boolean => line?.startsWith("CRASH_AT=") ?? false;

async function check(terminal: Terminal, line: string, before: string | undefined): Promise<void> {
  const command = line.replace(/\s+#.*$/, "");
  // It takes minutes and has its own test, so here it only has to start.
  if (command.endsWith("torture")) {
    assert.match((await terminal.type(line, { until: /^ *1\/\d+ .* ok$/m })).output, /^ *1\/\d+ .* ok$/m);
    return;
  }
  // It serves until it is stopped.
  if (command.startsWith("cinch serve")) {
    assert.match((await terminal.type(line, { until: /^http:\S+#token=/m })).output, /^http:\S+#token=/m);
    return;
  }
  const { code, output } = await terminal.type(line);
  assert.equal(code, isCrash(line) ? 137 : 0, `${line}\n${output}`);
  assert.match(output, isCrash(before) ? /3\*7 = 21/ : (printed[command] ?? /^/), line);
}

describe("printed and documented commands", { concurrency: 2 }, () => {
  test("every command of docs/cli.md works, one after the other in one folder", async () => {
    using terminal = new Terminal();
    const lines = commandsIn("docs/cli.md");
    assert.ok(lines.length >= 10, lines.join("\n"));
    for (const [at, line] of lines.entries()) await check(terminal, line, lines[at - 1]);
    const events = readFileSync(join(terminal.folder, "events.jsonl"), "utf8").trim().split("\n");
    assert.equal((JSON.parse(events.at(-1)!) as { type: string }).type, "agent_end");
  });

  test("the command of the README works, and so does the command that it prints to continue", async () => {
    using terminal = new Terminal();
    const [command = "", ...more] = commandsIn("README.md");
    assert.deepEqual(more, []);
    const { code, output } = await terminal.type(command);
    assert.equal(code, 0, output);
    assert.match(output, /3 \* 7 = 21/);
    const [, next = ""] = /continue: (npm start .*)$/m.exec(output) ?? [];
    assert.equal((await terminal.type(next)).code, 0, next);
  });

  test("a command in a folder that was removed says so, and what to do", async () => {
    using terminal = new Terminal();
    const gone = "mkdir -p gone && cd gone && rmdir ../gone &&";
    for (const command of ["", " run hi", " threads list", " acp", " doctor", " serve"]) {
      const { code, output } = await terminal.type(`${gone} cinch${command}`);
      // The shell has a word to say about it, too.
      const told = output.split("\n").filter((line) => line.startsWith("cinch:"));
      assert.deepEqual(
        [code, told],
        [2, ["cinch: The current folder does not exist any more. Go to one that does: cd ~"]],
      );
    }
    assert.match((await terminal.type(`${gone} cinch --help`)).output, /^cinch: conversations/m);
  });
});
