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

/** Streams half of a text, and the rest when the file exists. */
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
 * A harness whose model calls a tool for each user message and then answers; "wait for FILE" in two halves. Every process uses the
 * same one, so any of them may drive the thread.
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
