/**
 * npm test [-- FILE… FOLDER… --test-…=…]
 *
 * Node runs all tests of a process one after the other, and a process for each file would spend most of its time starting. So files run
 * in groups, with one process for each group and three groups more at a time than there are cores: many tests wait. With
 * five more a run is no quicker, and tests whose processes wait for each other fail more often. The output of a group is printed when it
 * is done; that of failed groups at the end.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";

const ALL = ["{packages,apps}/*/test/**/*.test.ts", "test/**/*.test.ts"];
const GROUP = 16;
/** The tests of these folders start many processes, which takes longer the more memory the process of the group has. */
const SMALL_GROUPS: Record<string, number> = {
  "packages/workspace": 6,
  "packages/sqlite": 6,
  "packages/postgres/test": 6,
  test: 4,
};
const MAX_PROCESSES = 5;
/** These folders take longest, so they start first. */
const SLOW = [
  "packages/testkit/test",
  "packages/testkit/test/subagents",
  "packages/postgres/test",
  "packages/restate/test",
  "packages/workspace/test/backends",
  "apps/cli/test",
  "test",
  "packages/memory/test",
];
/** Tests start many processes. Without a cache, most of the time would be spent stripping the same types. */
const COMPILE_CACHE = join(process.cwd(), "node_modules/.cache/compile");
const CACHE_MS = 24 * 60 * 60_000;
/** A test without a limit of its own that waits for ever would prevent the summary. */
const TIMEOUT = "--test-timeout=600000";
/** How long a process may take to exit after its tests. */
const EXIT_MS = 60_000;
/** Files that tests leave behind, for example because a process was killed, are removed with this folder. */
const TEMPORARY = mkdtempSync(join(tmpdir(), "cinch-test-"));
// The mode of /tmp, because some tests run as another user.
chmodSync(TEMPORARY, 0o1777);
/** The folders of the servers that the test processes share. */
const POSTGRES = join(TEMPORARY, "postgres");
const RESTATE = join(TEMPORARY, "restate");
/** The programs that tests start, bundled once for all test processes. */
const BUNDLES = join(TEMPORARY, "bundles");
/** The writer of SQLite stores in one file: see `writer-threads.ts`. */
const WRITER = join(TEMPORARY, "writer.cjs");
/** A file that measures its process runs in its own. */
const ALONE = /\.alone\.test\.ts$/;

interface Outcome {
  ok: boolean;
  output: string;
}

const given = process.argv.slice(2);
const options = given.filter((arg) => arg.startsWith("-"));
const paths = given.filter((arg) => !arg.startsWith("-"));
const files = globSync(paths.length > 0 ? paths.map(testsAt) : ALL).toSorted();
if (files.length === 0) throw new Error(`No test file matches ${paths.join(" ")}.`);
const groups = groupsOf(files);
const waiting = [...groups];
const running = new Set<ChildProcess>();
const failed: string[] = [];
const started = performance.now();

removeOld(COMPILE_CACHE);
process.once("exit", () => {
  endServers();
  endLeftProcesses();
  rmSync(TEMPORARY, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(1);
  });
await build({
  entryPoints: ["packages/sqlite/src/worker.ts"],
  outfile: WRITER,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  conditions: ["@cinch/source"],
  logLevel: "error",
});
await Promise.all(Array.from({ length: Math.min(availableParallelism() + 3, MAX_PROCESSES, groups.length) }, work));
for (const output of failed) process.stdout.write(output);
const seconds = ((performance.now() - started) / 1000).toFixed(0);
console.log(`${files.length} files in ${groups.length} groups, ${failed.length} of them failed, ${seconds} s`);
process.exit(failed.length > 0 ? 1 : 0);

/** A file, or all tests of a folder. */
function testsAt(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, "**/*.test.ts") : path;
}

/** Each run adds what it bundles, which has another path in the next one. */
function removeOld(folder: string): void {
  for (const file of globSync("**/*", { cwd: folder, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    const written = file.isFile() && statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (written && written < Date.now() - CACHE_MS) rmSync(path, { force: true });
  }
}

/** Ends the servers that the test processes have shared, if one of them has started them. Until they are gone they write to their folders. */
function endServers(): void {
  const postmaster = join(POSTGRES, "data/postmaster.pid");
  if (existsSync(postmaster)) endProcess(Number.parseInt(readFileSync(postmaster, "utf8"), 10), "SIGQUIT");
  const restate = join(RESTATE, "server.json");
  if (existsSync(restate)) endProcess((JSON.parse(readFileSync(restate, "utf8")) as { pid: number }).pid, "SIGKILL");
}

/** Ends what a test has started and left, for example because it was killed itself. A stopped process would stay for ever. */
function endLeftProcesses(): void {
  for (const pid of existsSync("/proc/self/environ") ? readdirSync("/proc") : []) {
    if (!/^\d+$/.test(pid) || !wordsOf(pid, "environ").includes(`TMPDIR=${TEMPORARY}`)) continue;
    console.log(`A test has left a process: ${wordsOf(pid, "cmdline").join(" ").slice(0, 200)}`);
    wasThere(Number(pid), "SIGKILL");
  }
}

/** Of a process that has ended meanwhile: none. */
function wordsOf(pid: string, file: "environ" | "cmdline"): string[] {
  try {
    return readFileSync(join("/proc", pid, file), "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Sends the signal until the process is gone. */
function endProcess(pid: number, signal: NodeJS.Signals): void {
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 200 && wasThere(pid, signal); tries++) Atomics.wait(asleep, 0, 0, 20);
}

function wasThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function work(): Promise<void> {
  for (let group = waiting.shift(); group; group = waiting.shift()) {
    const { ok, output } = await run(group);
    if (ok) process.stdout.write(output);
    else failed.push(output);
  }
}

function groupsOf(all: readonly string[]): string[][] {
  const together = Map.groupBy(
    all.filter((file) => !ALONE.test(file)).toSorted((a, b) => rank(a) - rank(b)),
    (file) => (SLOW.includes(dirname(file)) ? dirname(file) : packageOf(file)),
  );
  const shared = [...together].flatMap(([folder, some]) => {
    const size = SMALL_GROUPS[folder] ?? GROUP;
    return Array.from({ length: Math.ceil(some.length / size) }, (_, at) => some.slice(at * size, (at + 1) * size));
  });
  const alone = all.filter((file) => ALONE.test(file)).map((file) => [file]);
  // The shortest groups are last, so that no core waits long for the end of another's.
  return [...shared, ...alone].toSorted(([a = ""], [b = ""]) => rank(a) - rank(b));
}

function packageOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

function rank(file: string): number {
  const at = SLOW.indexOf(dirname(file));
  if (ALONE.test(file)) return SLOW.length;
  return at < 0 ? SLOW.length + 1 : at;
}

function run(group: readonly string[]): Promise<Outcome> {
  const flags = ["-C", "@cinch/source", "--test-force-exit", TIMEOUT, ...options];
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, "test-group.ts"), ...group], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TMPDIR: TEMPORARY,
      TEST_POSTGRES: POSTGRES,
      TEST_RESTATE: RESTATE,
      TEST_BUNDLES: BUNDLES,
      TEST_WRITER: WRITER,
    },
  });
  running.add(child);
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  // Seldom a process does not exit although its tests have ended: its summary counts then.
  let hasPassed = false;
  child.stdout.on("data", (chunk: Buffer) => {
    if (chunk.includes("ℹ duration_ms")) setTimeout(endHanging, EXIT_MS).unref();
  });
  const endHanging = () => {
    if (child.exitCode !== null) return;
    const output = Buffer.concat(chunks).toString("utf8");
    hasPassed = /^ℹ fail 0$/m.test(output) && /^ℹ cancelled 0$/m.test(output);
    console.log(`A process did not exit after its tests, and was killed: ${group.join(" ")}`);
    child.kill("SIGKILL");
  };
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", async (code) => {
      running.delete(child);
      // A process that a failed test has left running may keep the pipes open for ever.
      await Promise.race([once(child, "close"), sleep(1_000)]);
      resolve({ ok: code === 0 || hasPassed, output: Buffer.concat(chunks).toString("utf8") });
    });
  });
}
