import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, finish, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";

const look = defineTool({
  description: "Looks something up",
  category: "read",
  effect: "pure",
  input: z.object({}),
  execute: () => "seen",
});

/** Says half of something, and the rest when there is a file of that name. */
const halves = (file: string): Step =>
  async function* ({ abortSignal }) {
    yield { type: "text-start", id: "t" };
    for (const delta of ["Half ", "of ", "it, "]) yield { type: "text-delta", id: "t", delta };
    while (!existsSync(file)) await pause(10, undefined, { signal: abortSignal });
    yield { type: "text-delta", id: "t", delta: "and the rest." };
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };

/**
 * Looks something up for each user message and then answers, to "wait for FILE" in two halves. Every process that sits at the thread
 * of this folder would drive it alike.
 */
export function talker(folder: string): Harness {
  const model = scriptedBy(({ prompt }) => {
    const at = prompt.findLastIndex((message) => message.role === "user");
    if (prompt[at + 1]?.role !== "assistant") return call("look");
    const [, file] = /wait for (\w+)/.exec(JSON.stringify(prompt[at]?.content)) ?? [];
    return file === undefined ? say("At once.") : halves(`${folder}/${file}`);
  });
  const storage = sqliteStore({ path: `${folder}/cinch.db` });
  return new Harness({ id: "seats", storage, agent: new Agent({ name: "talker", model, tools: { look } }) });
}
