/**
 * npm run test:again N [FILE…] [-- --pairs]
 *
 * Runs the tests N times, with a busy loop beside them for each core, and prints which tests failed, and how often. A test that fails
 * once in twenty runs is a defect, of the test or of the code. With `--pairs` two runs at a time are the load of each other, in place of the
 * busy loops: twenty runs take half the time.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Without a timeout, a test that waits for ever would prevent the summary. */
const TIMEOUT = "--test-timeout=300000";
const given = process.argv.slice(2);
const [count = "", ...files] = given.filter((arg) => arg !== "--pairs");
const areInPairs = given.includes("--pairs");
const runs = Number(count);
if (!Number.isInteger(runs) || runs < 1) {
  console.error("The number of runs is missing. Write: npm run test:again 20 [FILE…] [-- --pairs]");
  process.exit(1);
}
const children = new Set<ChildProcess>();
process.once("exit", () => children.forEach((child) => child.kill()));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
if (!areInPairs) for (let core = 0; core < availableParallelism(); core++) keepBusy();
const failures = new Map<string, number>();
let begun = 0;
let passed = 0;
await Promise.all(areInPairs ? [repeat(), repeat()] : [repeat()]);
console.log(`${passed} of ${runs} runs passed`);
for (const [name, times] of failures) console.log(`  ${times} ×  ${name}`);
process.exit(passed === runs ? 0 : 1);

async function repeat(): Promise<void> {
  while (begun < runs) {
    const run = ++begun;
    const { ok, output, seconds } = await test();
    const failed = failedIn(output);
    if (!ok && failed.length === 0) failed.push("a process ended without naming a test");
    for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
    console.log(`run ${run} of ${runs}: ${ok ? "passed" : `${failed.length} failed`} in ${seconds} s`);
    if (ok) passed++;
    else console.log(detailsOf(output));
  }
}

/** Restarts the loop if it ends. */
function keepBusy(): void {
  const loop = fork(join(import.meta.dirname, "busy.ts"));
  children.add(loop);
  loop.once("exit", () => {
    children.delete(loop);
    keepBusy();
  });
}

function test(): Promise<{ ok: boolean; output: string; seconds: string }> {
  const started = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, "test.ts"), ...files, TIMEOUT], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      children.delete(child);
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      resolve({ ok: code === 0, output: Buffer.concat(chunks).toString("utf8"), seconds });
    });
  });
}

/** The reporter repeats each failed test at the end of its group, with its file and line. An uncaught error ends a group without them. */
function failedIn(output: string): string[] {
  const failed = output.matchAll(/^test at (\S+?):\d+:\d+\n✖ (.*) \([\d.]+ms\)$/gm);
  const uncaught = output.matchAll(/^An error that no test caught, from the test "(.*)":/gm);
  return [
    ...Array.from(failed, ([, file, name]) => `${file}: ${name}`),
    ...Array.from(uncaught, ([, name]) => `an error that no test caught: ${name}`),
  ];
}

function detailsOf(output: string): string {
  return output
    .split(/✖ failing tests:|^(?=An error that no test caught,)/m)
    .slice(1)
    .map((part) => part.trim())
    .join("\n\n");
}
