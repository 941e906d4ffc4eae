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

/** How a list shows when something happened. */
export function when(at: number, now: number): string {
  const date = new Date(at);
  if (now - at < DAY && date.getDate() === new Date(now).getDate())
    return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  if (now - at < 6 * DAY) return date.toLocaleDateString(undefined, { weekday: "short" });
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
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
