import { parseArgs } from "node:util";
import { UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";

export interface RunOptions {
  /** `undefined` if none was given; "-" for stdin. */
  prompt: string | undefined;
  thread: { kind: "new" } | { kind: "newest" } | { kind: "id"; id: string };
  model: string | undefined;
  db: string;
  json: boolean;
}

export type CliCommand =
  | { kind: "demo" }
  | { kind: "help" }
  | { kind: "version" }
  | { kind: "torture" }
  | { kind: "run"; options: RunOptions };

export const DEFAULT_DB = ".cinch/cinch.db";

const options = {
  thread: { type: "string" },
  continue: { type: "boolean" },
  model: { type: "string" },
  db: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** Throws `UsageError`. */
export function commandOf(args: readonly string[]): CliCommand {
  if (args.length === 0) return { kind: "demo" };
  const { values, positionals } = parse(args);
  if (values.help) return { kind: "help" };
  if (values.version) return { kind: "version" };
  const [name, ...words] = positionals;
  if (name === "help") return { kind: "help" };
  if (name === "torture") return { kind: "torture" };
  if (name === undefined)
    throw new UsageError(`A command is missing. Perhaps you meant: ${cinch} run ${args.join(" ")}`);
  if (name !== "run")
    throw new UsageError(`There is no command "${name}". To send it to a model: ${cinch} run "${name}"`);
  const { model, json = false, db = DEFAULT_DB } = values;
  for (const [flag, value] of Object.entries({ thread: values.thread, model, db })) {
    if (value?.trim() === "") throw new UsageError(`--${flag} is empty.`);
  }
  const prompt = words.length > 0 ? words.join(" ") : undefined;
  if (prompt?.trim() === "") throw new UsageError("The prompt is empty.");
  return { kind: "run", options: { prompt, thread: threadOf(values), model, db, json } };
}

function threadOf({ thread: id, continue: newest }: { thread?: string; continue?: boolean }): RunOptions["thread"] {
  if (id !== undefined && newest) throw new UsageError("Give either --thread or --continue, not both.");
  if (id !== undefined) return { kind: "id", id };
  return { kind: newest ? "newest" : "new" };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's own message explains how to escape a leading dash, which is rarely the problem.
    const unknown = /^Unknown option '--?([^']*)'/.exec(error.message)?.[1];
    throw new UsageError(unknown === undefined ? error.message : unknownOption(unknown), { cause: error });
  }
}

function unknownOption(name: string): string {
  const meant = Object.keys(options).find((known) => name.length > 1 && known.startsWith(name.slice(0, 3)));
  return `There is no option "${name}".${meant ? ` Perhaps you meant: --${meant}` : ""}`;
}
