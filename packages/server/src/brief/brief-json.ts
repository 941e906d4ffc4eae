import type { Json } from "@cinch/core";

/** A value whose JSON is longer is cut. */
export const BRIEF_CHARS = 2_000;
const HEAD = 1_000;
const TAIL = 500;
const STRING_CHARS = 600;
const STRING_HEAD = 300;
const STRING_TAIL = 150;

/** The beginning and the end of a text. Cuts no surrogate pair in two. */
export function headAndTail(
  text: string,
  { head, tail }: { head: number; tail: number } = { head: HEAD, tail: TAIL },
): string {
  const start = text.slice(0, head).replace(/[\uD800-\uDBFF]$/, "");
  const end = text.slice(text.length - tail).replace(/^[\uDC00-\uDFFF]/, "");
  return `${start}\n… ${text.length - start.length - end.length} characters cut …\n${end}`;
}

export const briefText = (text: string): string => (text.length > BRIEF_CHARS ? headAndTail(text) : text);

/** A value with long texts cut, so that short fields such as a path stay. If that is not enough, the beginning and end of its JSON. */
export function briefJson(value: Json): Json {
  if (typeof value === "string") return briefText(value);
  const size = jsonChars(value);
  if (size <= BRIEF_CHARS) return value;
  const shortened = withShortStrings(value);
  return jsonChars(shortened) <= BRIEF_CHARS ? shortened : headAndTail(JSON.stringify(value));
}

export const jsonChars = (value: unknown): number => JSON.stringify(value)?.length ?? 0;

function withShortStrings(value: Json): Json {
  if (typeof value === "string")
    return value.length > STRING_CHARS ? headAndTail(value, { head: STRING_HEAD, tail: STRING_TAIL }) : value;
  if (Array.isArray(value)) return value.map(withShortStrings);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withShortStrings(inner)]));
}
