import { fstatSync } from "node:fs";
import { text } from "node:stream/consumers";
import { UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import type { RunOptions } from "./args.ts";

/** When nothing has come in after this long, the person is told what is waited for. */
const PATIENCE_MS = 1_000;

/** What to say to the model, or `null` to only go on with the thread. */
export async function promptOf({ prompt, thread }: RunOptions, note: (line: string) => void): Promise<string | null> {
  if (prompt !== undefined && prompt !== "-") return prompt;
  // A program that starts us with an open pipe must not make `--continue` wait for it: there "-" asks for stdin.
  const goesOn = prompt === undefined && thread.kind !== "new";
  if (goesOn) return null;
  if (prompt === undefined && !isPiped()) {
    throw new UsageError(`A prompt is missing: ${cinch} run "what time is it?" (or pipe one in).`);
  }
  const said = await readStdin(note);
  if (said.trim() === "") throw new UsageError("The prompt from stdin is empty.");
  return said.replace(/\r?\n$/, "");
}

async function readStdin(note: (line: string) => void): Promise<string> {
  const timer = setTimeout(() => note("reading the prompt from stdin …"), PATIENCE_MS);
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
