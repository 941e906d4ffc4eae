import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolSet } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { dynamicTool, jsonSchema, tool, type ToolSet as AiToolSet } from "ai";
import * as z from "zod";
import { harness } from "../support.ts";

/** Tools of `tool()` of `ai` 7, with its own types: they must compile as tools here. */
const tools: ToolSet = {
  weather: tool({
    description: "Weather",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, degrees: 21 }),
  }),
  told: tool({
    description: ({ context }) => `Tells what ${typeof context} can tell`,
    inputSchema: z.object({}),
    execute: (_, { toolCallId, abortSignal }) => `${toolCallId} ${abortSignal?.aborted}`,
  }),
  raw: tool({
    inputSchema: jsonSchema<{ n: number }>({ type: "object", properties: { n: { type: "number" } } }),
    execute: ({ n }) => n + 1,
  }),
  shaped: tool({
    inputSchema: z.object({}),
    execute: () => ({ secret: 1 }),
    toModelOutput: ({ output }) => ({ type: "json", value: { shown: output.secret + 1 } }),
  }),
  failing: tool({
    inputSchema: z.object({}),
    execute: () => "x",
    toModelOutput: () => ({ type: "error-text", value: "no such page" }),
  }),
  pictured: tool({
    inputSchema: z.object({}),
    execute: () => "AAEC",
    toModelOutput: ({ output }) => ({
      type: "content",
      value: [
        { type: "text", text: "see" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: output } },
        { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a.png") } },
        { type: "file", mediaType: "text/plain", data: { type: "text", text: "plain" } },
      ],
    }),
  }),
  streamed: tool({
    inputSchema: z.object({}),
    async *execute() {
      yield { at: 1 };
      yield { at: 2 };
    },
  }),
  dynamic: dynamicTool({ inputSchema: z.object({}), execute: async () => [1, 2] }),
  mapped: tool({ inputSchema: z.object({}), execute: () => new Map([["a", 1]]) }),
  silent: tool({ inputSchema: z.object({}), execute: () => undefined }),
};

test("tool() of the AI SDK works as it is", async () => {
  const calls = Object.keys(tools).map((name): [string, object, string] => [name, CALLS[name] ?? {}, name]);
  const model = script(call(...calls), say("done"));
  await using h = await harness({ model, tools });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const ends = h.seen.flatMap((event) => (event.type === "tool_end" ? [event] : []));
  const shown = Object.fromEntries(ends.map(({ toolName, result, isError }) => [toolName, [result.content, isError]]));
  const { pictured, mapped, ...plain } = shown;
  assert.deepEqual(plain, {
    weather: ['{"city":"Rome","degrees":21}', false],
    told: ["told false", false],
    raw: ["3", false],
    shaped: ['{"shown":2}', false],
    failing: ["no such page", true],
    streamed: ['{"at":2}', false],
    dynamic: ["[1,2]", false],
    silent: ["(no result)", false],
  });
  assert.match(String(mapped?.[0]), /no JSON: it is a Map/);
  const parts = pictured?.[0] as { type: string; mediaType?: string; url?: string; text?: string; blob?: string }[];
  assert.deepEqual(
    parts.map(({ type, text = null, url = null, blob }) => [type, text, url, blob !== undefined]),
    [
      ["text", "see\nplain", null, false],
      ["file", null, null, true],
      ["file", null, "https://example.org/a.png", false],
    ],
  );
  const listed = model.requests[0]!.tools!.map((one) => ("description" in one ? [one.name, one.description] : []));
  assert.deepEqual(
    listed.filter(([name]) => name === "weather" || name === "told"),
    [
      ["weather", "Weather"],
      ["told", "Tells what object can tell"],
    ],
  );
  const progress = h.seen.flatMap((event) => (event.type === "tool_update" ? [event.partialResult] : []));
  assert.deepEqual(progress, [{ at: 1 }, { at: 2 }]);
});

const CALLS: Record<string, object> = { weather: { city: "Rome" }, raw: { n: 2 } };

test("a ToolSet of the AI SDK is a ToolSet here", () => {
  const theirs: AiToolSet = { weather: tool({ inputSchema: z.object({}), execute: () => "sun" }) };
  const ours: ToolSet = theirs;
  assert.equal(ours, theirs);
});

test("needsApproval of a tool of the AI SDK asks, although a rule allows the tool; other calls of it run", async () => {
  const paid: number[] = [];
  const pay = tool({
    inputSchema: z.object({ eur: z.number() }),
    needsApproval: ({ eur }) => eur > 100,
    execute: ({ eur }) => void paid.push(eur),
  });
  const wipe = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => void paid.push(-1) });
  const model = script(call("pay", { eur: 5 }), call("pay", { eur: 5000 }), call("wipe", {}), say("done"));
  await using h = await harness({
    model,
    tools: { pay, wipe },
    permissions: [
      { toolName: "pay", policy: "allow" },
      { toolName: "wipe", policy: "allow" },
    ],
  });
  const sent = h.sendMessage({ content: "go" });
  for (const before of [[5], [5, 5000]]) {
    assert.equal((await h.settled()).status, "waiting");
    assert.deepEqual(paid, before);
    await h.respondToToolApproval({ decision: "approve" });
  }
  await sent;
  assert.deepEqual(paid, [5, 5000, -1]);
});
