import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { GrepQuery } from "../backend.ts";
import { fileError } from "../file-error.ts";
import { withByteOrderMarks } from "./line-starts.ts";

/** Larger patterns are made to be slow. */
const LIMITS = ["--regex-size-limit=16M", "--dfa-size-limit=16M"];

const MAX_COMPLAINT = 2_000;

const MUCH_BYTES = 128 * 1024;
const MOMENT_MS = 10;

interface Run {
  query: GrepQuery;
  /** What to search: paths, or "-" for `input`. Unreadable files are skipped. */
  paths: readonly string[];
  options: readonly string[];
  cwd?: string;
  input?: AsyncIterable<Uint8Array>;
  signal?: AbortSignal | undefined;
  /** The pattern as it was given, for what ripgrep says about it. */
  asGiven?: boolean;
}

/**
 * The output of ripgrep, in large chunks. It runs in a process, so that no pattern can block ours, and is killed when the reader stops or
 * the signal is aborted. It reads no configuration, no environment and no ignore files.
 */
export async function* ripgrep(run: Run): AsyncGenerator<Buffer> {
  const { query, paths, options, cwd, input, signal, asGiven = false } = run;
  signal?.throwIfAborted();
  const args = [...BASE, ...LIMITS, ...options, ...patternOptions(query, asGiven), "--", ...paths];
  // Pipes are slow to create. The error output is only needed with an input.
  const unused = input ? "pipe" : "ignore";
  const child = spawn(await binary(query.path), args, { cwd, env: {}, stdio: [unused, "pipe", unused] });
  const ended: Promise<{ code: number | null; error?: Error }> = once(child, "close").then(
    ([code]) => ({ code }),
    (error: Error) => ({ code: null, error }),
  );
  const complaint = child.stderr ? text(child.stderr) : "";
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  const feeding = feed(child.stdin, input);
  try {
    if (child.stdout) yield* gathered(child.stdout);
    signal?.throwIfAborted();
    const [{ error: unfed }, { code, error }] = await Promise.all([feeding, ended]);
    if (unfed !== undefined) throw unfed;
    if (error) throw fileError("failed", query.path, "ripgrep can't be started.", error);
    if (code === null) throw fileError("failed", query.path, "ripgrep was killed before it had found everything.");
    // 2 also means that a file has disappeared meanwhile.
    if (code === 2 && !asGiven) await checkPattern(query, signal);
    if (code === 2 && input) throw invalid(query, await complaint);
  } finally {
    signal?.removeEventListener("abort", kill);
    kill();
    await Promise.allSettled([feeding, ended, complaint]);
  }
}

const BASE = ["--no-config", "--no-ignore", "--no-messages", "--color=never", "--no-mmap", "--encoding=none"];

const patternOptions = ({ pattern, regex, ignoreCase }: GrepQuery, asGiven: boolean): string[] => [
  regex ? "--crlf" : "--fixed-strings",
  ignoreCase ? "--ignore-case" : "--case-sensitive",
  `--regexp=${regex && !asGiven ? withByteOrderMarks(pattern) : pattern}`,
];

/** Rejects if ripgrep refuses the pattern. */
async function checkPattern(query: GrepQuery, signal: AbortSignal | undefined): Promise<void> {
  const input = Readable.from([]);
  for await (const _ of ripgrep({ query, paths: ["-"], options: ["--quiet"], input, signal, asGiven: true }));
}

const invalid = ({ path }: GrepQuery, complaint: string) =>
  fileError(
    "invalid",
    path,
    `the pattern can't be used. ${complaint.slice(0, MAX_COMPLAINT).replace(/^rg: /, "").trim()}`,
  );

/** Imported late, so that everything else works on a machine without ripgrep. */
async function binary(path: string): Promise<string> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch (error) {
    throw fileError("failed", path, "there is no ripgrep for this machine, so files can't be searched.", error);
  }
}

/** Joins chunks until there are many bytes, or for a moment: ripgrep writes for each file, which may be ten thousand times. */
async function* gathered(stream: Readable): AsyncGenerator<Buffer> {
  let [chunks, bytes, isDue, isOver] = [[] as Buffer[], 0, false, false];
  let timer: NodeJS.Timeout | undefined;
  let failure: Error | undefined;
  let wake = () => {};
  const due = () => {
    isDue = true;
    wake();
  };
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    timer ??= setTimeout(due, MOMENT_MS);
    if (bytes >= MUCH_BYTES) due();
    if (bytes >= 2 * MUCH_BYTES) stream.pause();
  });
  stream.once("error", (error: Error) => (failure = error));
  stream.once("close", () => {
    isOver = true;
    due();
  });
  try {
    for (;;) {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure;
      const [taken, isLast] = [Buffer.concat(chunks, bytes), isOver];
      clearTimeout(timer);
      [chunks, bytes, timer, isDue] = [[], 0, undefined, false];
      stream.resume();
      if (taken.length > 0) yield taken;
      if (isLast) return;
    }
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
}

/** Never rejects: ripgrep may exit before it has read everything. Returns an error of the input. */
async function feed(
  stdin: Writable | null,
  input: AsyncIterable<Uint8Array> | undefined,
): Promise<{ error?: unknown }> {
  if (!stdin || !input) return {};
  let failure: { error?: unknown } = {};
  const source = async function* () {
    try {
      yield* input;
    } catch (error) {
      failure = { error };
    }
  };
  await pipeline(source, stdin).catch(() => {});
  return failure;
}
