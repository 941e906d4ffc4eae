import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { applied, type Mutant } from "./mutant.ts";

export const root = resolve(import.meta.dirname, "../..");
const LIMIT_MS = 60_000;
/** The least timeout of a test: a mutant may make it wait for ever. */
const TEST_LIMIT_MS = 20_000;

export type Outcome = "passed" | "failed" | "hung";

/** A copy of the sources, in which one mutant at a time is applied. Third-party packages are linked. */
export class Tree {
  readonly #folder = mkdtempSync(join(tmpdir(), "cinch-mutants-"));
  /** Tests that are killed leave files behind, even whole databases. */
  readonly #temporary = join(this.#folder, "tmp");

  constructor() {
    // Some tests run a process as another user, who must be able to read the sources.
    chmodSync(this.#folder, 0o755);
    mkdirSync(this.#temporary);
    chmodSync(this.#temporary, 0o1777);
    const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
    for (const file of listed.split("\n").filter((name) => name && existsSync(join(root, name)))) {
      cpSync(join(root, file), join(this.#folder, file));
    }
    for (const modules of ["node_modules", "packages/workspace/node_modules"]) this.#link(modules);
  }

  /** The links of our own packages are relative and are copied, so that they point to the copy of the sources. */
  #link(modules: string): void {
    if (!existsSync(join(root, modules))) return;
    mkdirSync(join(this.#folder, modules), { recursive: true });
    for (const name of readdirSync(join(root, modules))) {
      const from = join(root, modules, name);
      const to = join(this.#folder, modules, name);
      if (name === "@cinch" || name === "cinch") cpSync(from, to, { recursive: true, verbatimSymlinks: true });
      else symlinkSync(from, to);
    }
  }

  /** `baselineMs`: how long its tests take without the mutant. */
  async withMutant(mutant: Mutant, baselineMs: number): Promise<Outcome> {
    const path = join(this.#folder, mutant.file);
    const source = readFileSync(path, "utf8");
    writeFileSync(path, applied(source, mutant));
    try {
      return await this.run(mutant.tests, Math.max(TEST_LIMIT_MS, 2 * baselineMs));
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Ends with the first test that fails. */
  run(tests: readonly string[], testLimitMs = LIMIT_MS): Promise<Outcome> {
    const flags = [
      "-C",
      "@cinch/source",
      "--test-force-exit",
      "--test-reporter=tap",
      `--test-timeout=${Math.ceil(testLimitMs)}`,
    ];
    const child = spawn(process.execPath, [...flags, "scripts/test-group.ts", ...tests], {
      cwd: this.#folder,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), TMPDIR: this.#temporary },
    });
    return new Promise((settle, reject) => {
      const end = (outcome: Outcome) => {
        clearTimeout(limit);
        // Also kills the processes that the tests have started.
        if (child.pid !== undefined) killGroup(child.pid);
        settle(outcome);
      };
      const limit = setTimeout(() => end("hung"), LIMIT_MS);
      let rest = "";
      child.stdout.on("data", (chunk: Buffer) => {
        rest += chunk.toString("utf8");
        if (/^\s*not ok /m.test(rest)) end("failed");
        rest = rest.slice(rest.lastIndexOf("\n") + 1);
      });
      child.once("error", reject);
      child.once("exit", (code) => end(code === 0 ? "passed" : "failed"));
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
