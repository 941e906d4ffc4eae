import type { AppCommand, CommandContext } from "./command.ts";

export const yoloCommand: AppCommand = {
  name: "yolo",
  description: "let every call run unasked, or stop that",
  argument: "[on|off]",
  async run(argument, context) {
    const wanted = wantedState(argument.trim(), context.display().yolo);
    if (wanted === undefined)
      return context.say(`"${argument.trim()}" is neither on nor off: /yolo, /yolo on or /yolo off.`);
    const waiting = Object.keys(context.display().pendingApprovals).length;
    await context.session.setState({ yolo: wanted });
    context.say(wanted ? onText(context, waiting) : "YOLO is off: calls ask again, as the rules say.");
  },
};

function wantedState(argument: string, current: boolean): boolean | undefined {
  if (argument === "") return !current;
  if (argument === "on" || argument === "off") return argument === "on";
  return undefined;
}

function onText({ project }: CommandContext, waiting: number): string {
  const meaning =
    "YOLO is on: in this thread no call asks before it runs, subagents included. What a rule denies stays denied.";
  const { kind } = project.protection;
  const reach = kind === "none" ? " There is no sandbox: commands can change whatever you can." : "";
  const now = waiting === 0 ? "" : " What waited for your approval runs now.";
  return `${meaning}${reach}${now} /yolo turns it off.`;
}
