import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ShellCommand, CommandExit, StartOptions } from "@cinch/workspace/shell";
import type { Shell } from "@cinch/workspace";

/** A folder that is removed after the test. */
export function folder(): { path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "cinch-test-")));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 9 }) };
}

export const closing = (shell: Shell): { shell: Shell } & AsyncDisposable => ({
  shell,
  [Symbol.asyncDispose]: async () => shell.close?.(),
});

export interface Ran {
  exit: CommandExit;
  stdout: string;
  stderr: string;
  /** In the order of arrival. */
  printed: string;
}

type Extra = Partial<ShellCommand> & StartOptions;

/** Runs a command to its end. */
export async function ran(
  shell: Shell,
  command: string,
  { interactive, combined, ...extra }: Extra = {},
): Promise<Ran> {
  const pieces: { chunk: Uint8Array; stream: string }[] = [];
  const sink = (chunk: Uint8Array, stream: string) => void pieces.push({ chunk: chunk.slice(), stream });
  const { exit } = shell.start({ command, cwd: "/", ...extra }, sink, { interactive, combined });
  const ended = await exit;
  const text = (wanted?: string) =>
    Buffer.concat(pieces.filter(({ stream }) => !wanted || stream === wanted).map(({ chunk }) => chunk)).toString();
  return { exit: ended, stdout: text("stdout"), stderr: text("stderr"), printed: text() };
}

/** Processes of the machine whose command line contains this text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
      } catch {
        return false;
      }
    });
}

/** The processes that are left when there are none any more, or after half a minute. */
export async function untilNone(text: string): Promise<number[]> {
  const limit = performance.now() + 30_000;
  while (processesWith(text).length > 0 && performance.now() < limit) await sleep(20);
  return processesWith(text);
}

/** Polls until the condition holds; the timeout of the test is the limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

/** Starts a command that prints "ready" first, and then stops it. */
export async function stopped(shell: Shell, command: string): Promise<{ exit: CommandExit; printed: string }> {
  let printed = "";
  // Bash itself prints on stderr which process a signal ended.
  const sink = (chunk: Uint8Array, stream: string) =>
    void (stream === "stdout" && (printed += Buffer.from(chunk).toString()));
  const running = shell.start({ command, cwd: "/" }, sink);
  await until(() => printed.includes("ready\n"));
  const began = performance.now();
  await running.stop();
  const exit = { ...(await running.exit), durationMs: performance.now() - began };
  return { exit, printed: printed.replace("ready\n", "") };
}

const TRIES = 5;

/** For a command that must act before it is killed: a busy machine may hold it up, so it is tried a few times. */
export async function inTime<T>(attempt: () => Promise<T>, isInTime: (result: T) => boolean): Promise<T> {
  let result = await attempt();
  for (let tries = 1; tries < TRIES && !isInTime(result); tries++) result = await attempt();
  return result;
}

/** For `skip`: the reason, or `false`. */
export function without(tool: string): string | false {
  const found = (process.env.PATH ?? "").split(":").some((path) => existsSync(join(path, tool)));
  return found ? false : `${tool} is not installed`;
}

let last = 0;

/** A number of seconds that no other process sleeps. */
export function longSleep(): string {
  last += 1;
  return `${1_000_000 + process.pid}.${last}`;
}

const TESTS = join(import.meta.dirname, "..");

/** Runs another program of the tests, named by its path below `test`, in its own process. Settles once it has printed a line. */
export async function program(name: string, args: string[], through: string[] = []) {
  const node = [process.execPath, "-C", "@cinch/source", "--no-warnings", join(TESTS, name), ...args];
  const [first = "", ...rest] = [...through, ...node];
  const child = spawn(first, rest, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      printed += data.toString();
      if (printed.includes("\n")) resolve(printed.slice(0, printed.indexOf("\n")));
    });
    child.once("exit", () => reject(new Error(`${name} ended: ${printed}`)));
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return { line, kill, exited, [Symbol.asyncDispose]: kill };
}
