import { fstatSync, type Stats } from "node:fs";
import { text } from "node:stream/consumers";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import type { RunOptions } from "../cli-command.ts";

/** After this long without input, a note says that stdin is being read. */
const NOTE_AFTER_MS = 1_000;

/** The prompt, or `null` to only resume the thread. */
export async function promptOf(
  { prompt, stdin, thread }: Pick<RunOptions, "prompt" | "stdin" | "thread">,
  note: (line: string) => void,
): Promise<string | null> {
  if (prompt !== undefined) {
    const added = stdin || hasPipeline() ? await readStdin(note, "stdin, to add it to the prompt") : "";
    return added.trim() === "" ? prompt : `${prompt}\n\n${added}`;
  }
  // With `--continue`, an open pipe is read only for "-": a program may have started us with a pipe that it never closes.
  if (!stdin && thread.kind !== "new") return null;
  if (!stdin && !isPiped()) {
    throw new UsageError(`A prompt is missing: ${cinch} run "what time is it?" (or pipe one in).`);
  }
  const said = await readStdin(note, "the prompt from stdin");
  if (said.trim() === "") throw new UsageError("The prompt from stdin is empty.");
  return said;
}

/** Without the last line end. */
async function readStdin(note: (line: string) => void, what: string): Promise<string> {
  const timer = setTimeout(() => note(`reading ${what} … (Ctrl-D ends it; < /dev/null has none)`), NOTE_AFTER_MS);
  try {
    return (await text(process.stdin)).replace(/\r?\n$/, "");
  } finally {
    clearTimeout(timer);
  }
}

const isPiped = (): boolean => stdinIs((stdin) => stdin.isFIFO() || stdin.isFile() || stdin.isSocket());

/** What a shell connects: a pipe or a file. A program gives a socket, which it may never close. */
const hasPipeline = (): boolean => stdinIs((stdin) => stdin.isFIFO() || stdin.isFile());

function stdinIs(kind: (stdin: Stats) => boolean): boolean {
  try {
    return kind(fstatSync(0));
  } catch {
    // A closed stdin has nothing to read.
    return false;
  }
}
