/** The baseline: `streamText` of ai 7 alone. This adapter keeps messages in memory and appends them to a JSONL file after each turn. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aiSdkModel } from "../lib/ai-sdk-model.mjs";
import { runTool } from "../lib/script.mjs";

export async function load() {
  const ai = await import("ai");
  return (options) => start(ai, options);
}

const input = {
  type: "object",
  properties: { n: { type: "number" }, note: { type: "string" } },
  required: ["n"],
};

function start(ai, { folder, hooks }) {
  const { streamText, tool, jsonSchema } = ai;
  const stopAfter = ai.stepCountIs ?? ai.isStepCount;
  const model = aiSdkModel("v4", hooks);
  const bench_tool = tool({
    description: "bench",
    inputSchema: jsonSchema(input),
    execute: (args) => runTool(args, hooks),
  });
  const threads = new Map();
  const file = (id) => join(folder, `${id}.jsonl`);

  return {
    async open(id) {
      const lines = existsSync(file(id)) ? readFileSync(file(id), "utf8").trim().split("\n") : [];
      threads.set(id, { messages: lines.flatMap((line) => JSON.parse(line)), listeners: new Set() });
    },
    subscribe(id, listener) {
      threads.get(id).listeners.add(listener);
    },
    async sendMessage(id, content) {
      const { messages, listeners } = threads.get(id);
      const user = { role: "user", content };
      messages.push(user);
      const result = streamText({
        model,
        system: "You are a benchmark agent.",
        messages,
        tools: { bench_tool },
        stopWhen: stopAfter(100_000),
      });
      let text = "";
      for await (const part of result.fullStream ?? result.stream) {
        for (const listener of listeners) listener(part);
        if (part.type === "text-delta") text += part.text;
        if (part.type === "error") throw part.error;
      }
      const said = (await result.responseMessages) ?? (await result.response).messages;
      messages.push(...said);
      appendFileSync(file(id), `${JSON.stringify([user, ...said])}\n`);
      return { text };
    },
    async messages(id) {
      return threads.get(id).messages.flatMap(({ role, content }) => {
        if (!Array.isArray(content)) return [{ role, toolResult: false, text: content }];
        return content.map((part) => ({ role, toolResult: part.type === "tool-result", text: part.text }));
      });
    },
    isDelta: (part) => part.type === "text-delta",
    async close() {},
  };
}
