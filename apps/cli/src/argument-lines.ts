import type { Json } from "@cinch/core";

/**
 * All arguments of a call, for a reader. A call with one text as its argument is that text. Of several, each begins its own line; the
 * further lines of a value are indented, so that no value can look like another argument.
 */
export function argumentLines(args: Json): string[] {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return [JSON.stringify(args)];
  const entries = Object.entries(args);
  const [only] = entries;
  if (entries.length === 1 && typeof only![1] === "string") return only![1].split("\n");
  return entries.flatMap(([name, value]) => {
    const [first, ...more] = (typeof value === "string" ? value : JSON.stringify(value)).split("\n");
    if (more.length === 0) return [`${name}: ${first}`];
    return [`${name}:`, ...[first, ...more].map((line) => `    ${line}`)];
  });
}
