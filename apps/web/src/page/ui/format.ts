/** Three digits and a unit: 950, 1.2k, 34k, 1.2M. */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  const [value, unit] = count < 999_500 ? [count / 1_000, "k"] : [count / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

export function duration(ms: number): string {
  if (ms < 50) return "< 0.1 s";
  if (ms < 950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1_000)} s`;
  if (ms < 3_570_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 360_000) / 10} h`;
}

/** A cost that is less than a cent is not nothing. */
export function dollars(cost: number): string {
  if (cost === 0) return "$0";
  return cost < 0.01 ? "< $0.01" : `$${cost.toFixed(2)}`;
}

const DAY = 86_400_000;

/** A format is made once: that takes longer than to use it for all messages of a thread. */
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const DATE = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "medium" });

export const fullTime = (at: number): string => FULL.format(at);

/** How a list shows when something happened. */
export function when(at: number, now: number): string {
  if (now - at < DAY && new Date(at).getDate() === new Date(now).getDate()) return CLOCK.format(at);
  return (now - at < 6 * DAY ? WEEKDAY : DATE).format(at);
}

/** When something is to happen. */
export function dueTime(at: number, now: number): string {
  const time: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
  const date = new Date(at);
  if (date.toDateString() === new Date(now).toDateString()) return date.toLocaleTimeString(undefined, time);
  return date.toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", ...time });
}

/** Shows characters that a reader can't see or that change the direction of a text, as their code points. */
export const withVisibleSigns = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) =>
    sign === "\n" || sign === "\t" ? sign : `⟨U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
