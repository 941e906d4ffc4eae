import type { Json } from "@cinch/core";

type Args = Readonly<Record<string, Json>>;

/** What stands beside the name of a tool, for tools whose main argument is not simply one of the usual keys. */
const ARGUMENTS: Readonly<Record<string, (args: Args) => string>> = {
  grep: (args) => [quoted(args["pattern"]), str(args["glob"]), str(args["path"])].filter(Boolean).join(" "),
  glob: (args) => [str(args["pattern"]), str(args["path"])].filter(Boolean).join(" in "),
  task: (args) => [str(args["agent"]), firstLine(str(args["prompt"]))].filter(Boolean).join(": "),
  ask_user: (args) => str(args["question"]),
  submit_plan: (args) => str(args["title"]),
  write_todos: () => "",
  ls: (args) => str(args["path"]) || "/",
};

/** By importance. */
const USUAL_KEYS = ["command", "file_path", "path", "pattern", "query", "url", "name", "agent", "id", "ids"];

/** The argument that tells a reader what a call does. It may have several lines. */
export function mainArgument(toolName: string, input: Json): string {
  const args = jsonFields(input);
  if (Object.hasOwn(ARGUMENTS, toolName)) return ARGUMENTS[toolName]!(args);
  const key = USUAL_KEYS.find((usual) => str(args[usual]) !== "");
  if (key !== undefined) return str(args[key]);
  const [first] = Object.values(args).filter((value) => typeof value === "string" && value !== "");
  if (first !== undefined) return str(first);
  return Object.keys(args).length === 0 ? "" : JSON.stringify(args);
}

const STREAMED_KEY = new RegExp(
  `"(?:${[...USUAL_KEYS, "question", "title"].join("|")})"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`,
);
/** The main argument stands at the beginning; behind it may be a whole file. */
const STREAMED_CHARS = 1_000;

/** The main argument of a call whose arguments are still streaming; empty until it is complete. */
export function streamedArgument(json: string): string {
  const found = STREAMED_KEY.exec(json.slice(0, STREAMED_CHARS))?.[1];
  if (found === undefined) return "";
  try {
    return str(JSON.parse(found) as Json);
  } catch {
    return "";
  }
}

export const jsonFields = (value: Json | undefined): Args =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

export const firstLine = (source: string): string => source.trim().split("\n", 1)[0]!;

function str(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map((one) => str(one)).join(", ");
  return "";
}

const quoted = (value: Json | undefined): string => (str(value) === "" ? "" : JSON.stringify(str(value)));
