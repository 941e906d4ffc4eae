import { OFFLOADED_FROM_CHARS } from "@cinch/core/workspace";

/** How many entries a listing shows. */
export const LISTED = 1_000;
/** The length of a result. The harness offloads longer ones; the margin is for a header, and for remarks of a person. */
export const RESULT_CHARS = OFFLOADED_FROM_CHARS * 0.9;

/** As many of the lines as a result has room for. */
export function fitLines(lines: readonly string[], { most = LISTED }: { most?: number } = {}): string[] {
  let chars = 0;
  const end = lines.findIndex((line, at) => at >= most || (chars += line.length + 1) > RESULT_CHARS);
  return end < 0 ? [...lines] : lines.slice(0, end);
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
