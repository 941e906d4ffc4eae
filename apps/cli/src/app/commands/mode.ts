import type { AppCommand, CommandContext } from "./command.ts";

export const modeCommand: AppCommand = {
  name: "mode",
  description: "change the mode, such as plan or build",
  argument: "[ID]",
  async run(argument, context) {
    const { session } = context;
    const modeId = argument.trim() || (await chosenMode(context));
    if (!modeId) return;
    await session.switchMode({ modeId });
    const when = context.display().turnId === null ? "" : " It holds from the next step on.";
    context.say(`The mode is ${session.getCurrentModeId()}.${when}`);
  },
};

async function chosenMode(context: CommandContext): Promise<string | undefined> {
  const { session } = context;
  const current = session.getCurrentModeId();
  const items = (await session.listModes()).map(({ id, availableTools, transitionsTo }) => ({
    value: id,
    label: id,
    details: [
      availableTools === null ? "all tools" : "some tools",
      transitionsTo === null ? "" : `an approved plan leads to ${transitionsTo}`,
      id === current ? "this one" : "",
    ],
  }));
  return context.pick({ title: "Mode", items });
}
