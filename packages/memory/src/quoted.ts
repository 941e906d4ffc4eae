import type { BlockText, Quote } from "@cinch/core";

const CHARS_PER_TOKEN = 4;
/** The longest quote, in characters: tried in this order until all quotes fit. */
const CAPS = [Infinity, 20_000, 6_000, 2_000, 600, 200];

/**
 * Messages as lines of JSON. A line can't be forged by the text of a message, because line breaks and quotes in it are escaped. What does
 * not fit is shortened; if that is not enough, messages in the middle are left out.
 */
export const quotedMessages = (quotes: readonly Quote[], roomTokens: number): string =>
  fitting(quotes, lineOf, roomTokens);

function fitting<T>(items: readonly T[], line: (item: T, cap: number) => string, roomTokens: number): string {
  const room = roomTokens * CHARS_PER_TOKEN;
  for (const cap of CAPS) {
    const lines = items.map((item) => line(item, cap));
    if (sizeOf(lines) <= room) return lines.join("\n");
  }
  const shortest = items.map((item) => line(item, CAPS.at(-1)!));
  return withoutMiddle(shortest, room).join("\n");
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0);

function lineOf({ seq, at, role, text }: Quote, cap: number): string {
  return JSON.stringify({ seq, date: dateOf(at), role, text: shortened(text, cap) });
}

export const dateOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function shortened(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const half = Math.floor(cap / 2);
  return `${text.slice(0, half)} […${text.length - 2 * half} characters…] ${text.slice(text.length - half)}`.toWellFormed();
}

function withoutMiddle(lines: readonly string[], room: number): string[] {
  const first: string[] = [];
  const last: string[] = [];
  let left = room;
  for (let [from, to] = [0, lines.length - 1]; from <= to;) {
    const isFirst = first.length <= last.length;
    const line = lines[isFirst ? from++ : to--]!;
    left -= line.length + 1;
    if (left < 0) break;
    if (isFirst) first.push(line);
    else last.unshift(line);
  }
  const missing = lines.length - first.length - last.length;
  return [...first, JSON.stringify({ leftOut: `${missing} lines` }), ...last];
}

/** Earlier texts about the conversation, as lines of JSON. */
export const quotedBlocks = (blocks: readonly BlockText[], roomTokens: number): string =>
  fitting(
    blocks,
    ({ kind, range, at, text }, cap) =>
      JSON.stringify({ kind, from: range[0], to: range[1], written: dateOf(at), text: shortened(text, cap) }),
    roomTokens,
  );
