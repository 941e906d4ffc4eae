import { messageOf } from "../../error-message.ts";
import { chooseModel } from "../../models/choice.ts";
import { offeredModels } from "../../models/offered-models.ts";
import { withSavedKeys } from "../../setup/key-files.ts";
import type { AppCommand, CommandContext, PickItem } from "./command.ts";

export const modelCommand: AppCommand = {
  name: "model",
  description: "change the model of this thread",
  argument: "[PROVIDER/ID]",
  async run(argument, context) {
    const { session } = context;
    const modelId = argument.trim() || (await chosenModel(context));
    if (!modelId) return;
    const problem = problemOf(modelId, context);
    if (problem !== undefined) return context.say(problem);
    await session.switchModel({ modelId, scope: "thread" });
    const when = context.display().turnId === null ? "" : " It answers from the next step on.";
    context.say(`The model is ${session.getCurrentModelId()}.${when}`);
  },
};

function chosenModel(context: CommandContext): Promise<string | undefined> {
  const items = knownModels(context);
  return context.pick({
    title: "Model: choose one, or type provider/id",
    items,
    // Any id can be typed, also one that is not in the list.
    search: async (query) => {
      const fitting = items.filter(({ label }) => label.includes(query));
      const isListed = items.some(({ value }) => value === query);
      return isListed || !query.includes("/") ? fitting : [...fitting, { value: query, label: query }];
    },
  });
}

function knownModels({ project, session }: CommandContext): PickItem<string>[] {
  const current = session.getCurrentModelId();
  const ids = [...new Set([current, ...offeredModels(project)])];
  return ids.map((value) => ({ value, label: value, details: [value === current ? "this one" : aboutModel(value)] }));
}

const aboutModel = (id: string): string => (id === "offline" ? "rule-based, needs no key" : "");

function problemOf(modelId: string, { project }: CommandContext): string | undefined {
  if (modelId === project.model.id) return undefined;
  try {
    chooseModel(modelId, withSavedKeys(project.env));
    return undefined;
  } catch (error) {
    // The same advice as on the command line, in the words of the composer.
    return messageOf(error).replaceAll("--model ", "/model ");
  }
}
