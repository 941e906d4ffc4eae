import { defineTool, textOf, type HarnessMessage, type ToolSet } from "@cinch/core";
import { say, type ScriptedModel, type Step } from "@cinch/testkit";
import * as z from "zod";

/** The results of all calls of the thread, in the order of the conversation. */
export const resultsOf = ({ messages }: { messages: readonly HarnessMessage[] }): string[] =>
  outcomesOf({ messages }).map(({ text }) => text);

export const outcomesOf = ({ messages }: { messages: readonly HarnessMessage[] }) =>
  messages.flatMap(({ outcomes }) =>
    Object.values(outcomes).map(({ result, isError }) => ({ text: textOf(result.content), isError })),
  );

export const notesOf = ({ messages }: { messages: readonly HarnessMessage[] }): string[] =>
  messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content));

/** The names of the tools in the request with this index. */
export const toolNamesIn = (model: ScriptedModel, at = 0): string[] =>
  (model.requests[at]?.tools ?? []).map(({ name }) => name);

/** A tool in the request with this index: its description, and the names of its parameters. */
export function toolIn(model: ScriptedModel, name: string, at = 0) {
  const tool = model.requests[at]?.tools?.find((one) => one.name === name);
  if (tool?.type !== "function") return undefined;
  const { properties = {}, required = [] } = tool.inputSchema as {
    properties?: Record<string, { enum?: string[] }>;
    required?: string[];
  };
  return { description: tool.description ?? "", properties, required };
}

/** The texts of the user in the request with this index. */
export const askedIn = (model: ScriptedModel, at = 0): string[] =>
  (model.requests[at]?.prompt ?? []).flatMap((message) =>
    message.role === "user" ? message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );

/** The tools of the examples. Each run adds its name to `ran`. */
export function readTools(ran: string[] = []): ToolSet {
  const tool = (name: string) =>
    defineTool({
      description: name,
      category: "read",
      input: z.object({}),
      execute: () => {
        ran.push(name);
        return `${name} answered`;
      },
    });
  return { readFile: tool("readFile"), listFiles: tool("listFiles"), grep: tool("grep") };
}

/** A step that goes on when the test lets it. */
export function heldBack(step: Step = say("ready")) {
  const asked = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const held: Step = async function* (options) {
    asked.resolve();
    await opened.promise;
    yield* step(options);
  };
  return { step: held, asked: asked.promise, open: () => opened.resolve() };
}

/** The id of the newest session that a text names. */
export const sessionIn = (text: string): string =>
  [...text.matchAll(/session_id=\\?"(sub_\w+)\\?"/g)].at(-1)?.[1] ?? "";
