import type { ActiveSubagent, HarnessDisplayState } from "@cinch/core";
import type { RunningCommand } from "@cinch/workspace";
import { line } from "../../terminal/line.ts";
import { short } from "../../terminal/sanitise.ts";
import { formatElapsed } from "../../views/format.ts";
import { activeItem, showAgent } from "./agents.ts";
import type { AppCommand, CommandContext, PickItem, PickWay } from "./command.ts";
import { confirm } from "./confirm.ts";

type Running = { kind: "agent"; agent: ActiveSubagent } | { kind: "command"; command: RunningCommand };
type Chosen = Running & { stops: boolean };

const WAYS: readonly PickWay<Chosen>[] = [
  { key: "o", label: "output", value: (chosen) => ({ ...chosen, stops: false }) },
  { key: "s", label: "stop", value: (chosen) => ({ ...chosen, stops: true }) },
];

/** A command belongs to the process that started it. */
const NOTHING =
  "Nothing runs in the background of this thread. A command that another terminal started is listed there.";

export const backgroundCommand: AppCommand = {
  name: "background",
  description: "see or stop what runs in the background",
  async run(_argument, context) {
    const items = runningItems(context);
    if (items.length === 0) return context.say(NOTHING);
    const chosen = await context.pick({ title: "In the background", items, ways: WAYS });
    if (!chosen) return;
    if (!chosen.stops) return show(chosen, context);
    if (!(await confirm(context, `Stop ${nameOf(chosen)}?`, "Yes, stop it"))) return;
    await stop(chosen, context);
    context.say(`${nameOf(chosen)} was stopped. Its changes to files stay.`);
  },
};

function runningItems(context: CommandContext): PickItem<Chosen>[] {
  const display = context.display();
  const { now } = context.screen();
  const agents = Object.values(display.activeSubagents)
    .filter(({ agentId, endedAt }) => agentId !== null && endedAt === null)
    .map((agent) => ({ ...activeItem(agent, now), value: { kind: "agent" as const, agent, stops: false } }));
  const commands = context.project.workspace
    .backgroundCommands()
    .filter(({ threadId }) => isOfTree(threadId, display))
    .map((command) => ({
      value: { kind: "command" as const, command, stops: false },
      label: `${command.id}: ${short(command.command, 60)}`,
      details: [lastLine(command.output), formatElapsed(now - command.startedAt)],
    }));
  return [...agents, ...commands];
}

const isOfTree = (threadId: string, display: HarnessDisplayState): boolean =>
  threadId === display.threadId || Object.hasOwn(display.activeSubagents, threadId);

const lastLine = (output: string): string => short(output.trimEnd().split("\n").at(-1) ?? "", 40);

async function show(chosen: Chosen, context: CommandContext): Promise<void> {
  if (chosen.kind === "agent") return showAgent(chosen.agent.threadId, context);
  const { command, output } = chosen.command;
  const rows = output.trimEnd() === "" ? ["It has printed nothing yet."] : output.trimEnd().split("\n");
  const lines = rows.map((row) => ({ ...line(row), wrap: "terminal" as const }));
  await context.page({ title: short(command), lines });
}

const nameOf = (chosen: Chosen): string =>
  chosen.kind === "command" ? chosen.command.id : (chosen.agent.agentId ?? chosen.agent.agentName);

async function stop(chosen: Chosen, { project }: CommandContext): Promise<void> {
  if (chosen.kind === "command") return project.workspace.stopCommand(chosen.command);
  const seat = await project.harness.createSession({ threadId: chosen.agent.threadId });
  try {
    await seat.abort();
  } finally {
    await seat.close();
  }
}
