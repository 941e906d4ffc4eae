import { formatTime } from "../../views/format.ts";
import { keyOrCommand } from "../../views/view.ts";
import type { AppCommand } from "./command.ts";

export const laterCommand: AppCommand = {
  name: "later",
  description: "send a message at a time, or after a while",
  argument: "18:05|20m TEXT",
  async run(argument, context) {
    const [, time = "", content = ""] = /^(\S*)\s*([^]*)$/.exec(argument.trim()) ?? [];
    const screen = context.screen();
    const at = timeAfter(time, screen.now);
    if (at === undefined || content === "")
      return context.say(
        `${at === undefined && time !== "" ? `"${time}" is no time. ` : ""}Write /later 18:05 TEXT, or /later 20m TEXT (also 90s, 2h, 1h30m, 3d).`,
      );
    await context.session.followUp({ content, at });
    const change = keyOrCommand("Alt-Up changes", "/queue changes", screen);
    context.say(
      `Scheduled for ${formatTime(at, screen.now)}, while cinch has this thread open. ${change} or removes it.`,
    );
  },
};

const UNITS = [86_400_000, 3_600_000, 60_000, 1_000];

/** The next time of this kind: `18:05`, today or tomorrow; `1h30m` from now. `undefined`: it is none. */
export function timeAfter(text: string, now: number): number | undefined {
  const clock = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (clock) return nextOnClock(Number(clock[1]), Number(clock[2]), now);
  const [, ...counts] = /^(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,5})s)?$/.exec(text) ?? [];
  const ms = counts.reduce((sum, count, at) => sum + Number(count ?? 0) * UNITS[at]!, 0);
  return ms > 0 ? now + ms : undefined;
}

function nextOnClock(hours: number, minutes: number, now: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  const date = new Date(now);
  date.setHours(hours, minutes, 0, 0);
  // By the calendar: a day may have 23 or 25 hours.
  if (date.getTime() <= now) date.setDate(date.getDate() + 1);
  return date.getTime();
}
