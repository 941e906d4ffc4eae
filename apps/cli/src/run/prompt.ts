import { fstatSync } from "node:fs";
import { text } from "node:stream/consumers";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import type { RunOptions } from "../args.ts";

/** After this long without input, a note says that stdin is being read. */
const NOTE_AFTER_MS = 1_000;

/** The prompt, or `null` to only resume the thread. */
export async function promptOf({ prompt, thread }: RunOptions, note: (line: string) => void): Promise<string | null> {
  if (prompt !== undefined && prompt !== "-") return prompt;
  // With `--continue`, an open pipe is read only for "-": a program may have started us with a pipe that it never closes.
  const isResume = prompt === undefined && thread.kind !== "new";
  if (isResume) return null;
  if (prompt === undefined && !isPiped()) {
    throw new UsageError(`A prompt is missing: ${cinch} run "what time is it?" (or pipe one in).`);
  }
  const said = await readStdin(note);
  if (said.trim() === "") throw new UsageError("The prompt from stdin is empty.");
  return said.replace(/\r?\n$/, "");
}

async function readStdin(note: (line: string) => void): Promise<string> {
  const timer = setTimeout(() => note("reading the prompt from stdin …"), NOTE_AFTER_MS);
  try {
    return await text(process.stdin);
  } finally {
    clearTimeout(timer);
  }
}

function isPiped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
  } catch {
    // A closed stdin has nothing to read.
    return false;
  }
}
