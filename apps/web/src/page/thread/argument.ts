import type { Json } from "@cinch/core";

const NAMES = [
  "command",
  "path",
  "file_path",
  "pattern",
  "query",
  "url",
  "title",
  "task",
  "prompt",
  "name",
  "question",
];

/** The argument by which a person knows a call: a command, a path, a pattern. */
export function knownArgument(args: Json): string {
  if (typeof args === "string") return args;
  if (args === null || typeof args !== "object" || Array.isArray(args)) return "";
  for (const name of NAMES) {
    const value = args[name];
    if (typeof value === "string" && value !== "") return value;
  }
  const first = Object.values(args).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" ? first : "";
}

/** What a call brings back for people: a diff, or a text. */
export function diffIn(details: Json | undefined): string | null {
  if (details === null || typeof details !== "object" || Array.isArray(details)) return null;
  return typeof details?.["diff"] === "string" ? details["diff"] : null;
}
