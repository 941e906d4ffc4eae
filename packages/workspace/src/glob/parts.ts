import { glob } from "./glob.ts";

const SPECIAL = /[*?[\]{}\\]/;

/** The literal names at the beginning of a pattern: where a walk can start. */
export function literalStart(pattern: string): string[] {
  const segments = segmentsOf(pattern);
  const end = segments.findIndex((segment) => SPECIAL.test(segment));
  return end < 0 ? segments : segments.slice(0, end);
}

/** Every literal name in a pattern. A folder that is named is searched even if an ignore file excludes it. */
export function spelledOut(pattern: string): Set<string> {
  return new Set(pattern.split(/[/{},]/).filter((part) => part !== "" && !/[*?[\]\\]/.test(part)));
}

/** The rest of a pattern below these folders; several if it splits in several ways, none if it matches nothing there. */
export function below(pattern: string, folders: readonly string[]): string[] {
  // An alternative that spans folders can't be split: the caller has to match everything below against the whole pattern.
  if (pattern.slice(pattern.indexOf("{"), pattern.lastIndexOf("}") + 1).includes("/")) return ["**"];
  let rests = new Set([segmentsOf(pattern).join("/")]);
  for (const folder of folders) {
    const next = [...rests].flatMap((rest) => enter(segmentsOf(rest), folder));
    rests = new Set(next.map((rest) => rest.join("/")));
    if (rests.size > MOST_READINGS) return ["**"];
  }
  return [...rests].filter((rest) => rest !== "");
}

const MOST_READINGS = 4;

function enter(segments: readonly string[], folder: string): string[][] {
  const [first, ...rest] = segments;
  if (first === undefined) return [];
  if (/^\*\*+$/.test(first)) return [[...segments], ...enter(rest, folder)];
  if (first.startsWith("**")) return [[...segments]];
  return glob(first).matches(folder) ? [rest] : [];
}

const segmentsOf = (pattern: string): string[] => {
  const named = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  const segments = named.filter((segment, at) => segment !== "**" || named[at - 1] !== "**");
  // "src/" stands for everything in it.
  return pattern.endsWith("/") && segments.length > 0 ? [...segments, "**"] : segments;
};
