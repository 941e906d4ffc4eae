const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `950`, `41k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  if (count < 9_950_000) return `${(count / 1_000_000).toFixed(1)}M`;
  return `${Math.round(count / 1_000_000)}M`;
}

/** `0.1 s`, `14 s`, `2 min`, `1 h`. */
export function formatDuration(ms: number): string {
  if (ms < 0.95 * SECOND) return `${(Math.max(ms, 0) / SECOND).toFixed(1)} s`;
  return formatElapsed(ms + SECOND / 2);
}

/** Of what still lasts: full units only, so that it changes once a second at most. */
export function formatElapsed(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(Math.max(ms, 0) / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return `${Math.floor(ms / HOUR)} h`;
}

/** `$0.12`. What is less than a cent is not nothing. */
export function formatCost(dollars: number): string {
  if (dollars > 0 && dollars < 0.005) return "<$0.01";
  return dollars < 100 ? `$${dollars.toFixed(2)}` : `$${Math.round(dollars)}`;
}

/** `83 %`. */
export const formatShare = (share: number): string => `${Math.round(100 * share)} %`;

/** `1 message`, `2 messages`. */
export const formatPlural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A time to come, on the user's clock: `18:05`, `Tue 18:05`, `3 Dec 18:05`, `3 Dec 2027 18:05`. */
export function formatTime(at: number, now: number): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
  if (date.toDateString() === today.toDateString()) return time;
  if (at - now < 6 * 24 * HOUR) return `${DAYS[date.getDay()]} ${time}`;
  const year = date.getFullYear() === today.getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${date.getDate()} ${MONTHS[date.getMonth()]}${year} ${time}`;
}

const twoDigits = (number: number): string => String(number).padStart(2, "0");

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
