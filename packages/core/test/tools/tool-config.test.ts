import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, CinchError, defineTool, Harness, type ToolSet } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

const refused = (says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CinchError && error.code === "INVALID_CONFIG", String(error));
  assert.match(error.message, says);
  return true;
};
const execute = () => "done";
const input = z.object({});

/** A harness whose agent has this tool, under the name "deploy". */
const made = (tools: ToolSet) => new Harness({ id: "x", agent: new Agent({ name: "a", tools }) });

test("defineTool refuses unknown keys and invalid values, and names the similar key", () => {
  const description = "Deploys";
  const wrong: [unknown, RegExp][] = [
    [{ description, inputSchema: input, execute }, /defineTool: Unknown key "inputSchema": did you mean "input"\?/],
    [{ description, input, execute, timeout: 5 }, /"timeout": did you mean "timeoutMs"\?/],
    [{ description, input, execute, effects: "pure" }, /"effects": did you mean "effect"\?/],
    [{ description, input, execute, name: "deploy" }, /"name": there are "description"/],
    [{ input, execute }, /description/],
    [{ description: 5, input, execute }, /description/],
    [{ description, input }, /execute function/],
    [{ description, execute }, /input/],
    [{ description, input, execute, matches: "x" }, /matches must be a function/],
    [{ description, input, execute, policy: "deny" }, /policy must be a function/],
    [{ description, input, execute, timeoutMs: "5" }, /timeoutMs/],
    [{ description, input, execute, timeoutMs: 0 }, /timeoutMs/],
    [{ description, input, execute, effect: "twice" }, /effect/],
    [{ description, input, execute, category: "write" }, /category/],
    [undefined, /defineTool takes an object/],
    [null, /defineTool takes an object/],
    ["deploy", /defineTool takes an object/],
  ];
  for (const [definition, says] of wrong) assert.throws(() => defineTool(definition as never), refused(says));
});

test("a schema that no provider accepts is refused, and the error has the tool's name and says what to write", () => {
  const tool = (schema: unknown) => () =>
    made({ deploy: defineTool({ description: "Deploys", input: schema as typeof input, execute }) });
  const wrong: [unknown, RegExp][] = [
    [z.string(), /"deploy".*string.*z\.object/s],
    [z.array(z.string()), /"deploy".*array.*z\.object/s],
    [z.union([z.object({ a: z.string() }), z.string()]), /"deploy".*z\.object/s],
    [z.any(), /"deploy".*z\.object/s],
    [{ a: z.string() }, /"deploy".*z\.object\(\{ … \}\)/s],
    [{ a: z.string(), type: "object" }, /"deploy".*z\.object\(\{ … \}\)/s],
    [{}, /"deploy".*type: "object"/s],
    [{ type: "string" }, /"deploy".*string/s],
    [{ properties: { a: { type: "string" } } }, /"deploy".*type: "object"/s],
    [z.object({ day: z.date() }), /"deploy".*Date.*JSON Schema/s],
    [z.date(), /"deploy".*Date/s],
    [z.object({ n: z.bigint() }), /"deploy".*BigInt/s],
    [z.object({ m: z.map(z.string(), z.string()) }), /"deploy"/],
    ["object", /"deploy"/],
    [5, /"deploy"/],
    [[], /"deploy"/],
  ];
  for (const [schema, says] of wrong) assert.throws(tool(schema), refused(says), String(says));
});

test("schemas that describe only objects are accepted", () => {
  const fine: unknown[] = [
    z.object({ a: z.string() }),
    z.strictObject({}),
    z.looseObject({}),
    z.record(z.string(), z.number()),
    z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]),
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    z.object({ a: z.string() }).refine(({ a }) => a !== ""),
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object" },
  ];
  for (const schema of fine)
    made({ deploy: defineTool({ description: "Deploys", input: schema as typeof input, execute }) });
});

test("the first constructor that gets the tool's name refuses it", () => {
  const tools = { deploy: defineTool({ description: "Deploys", input: z.date() as never, execute }) };
  assert.throws(() => new Agent({ name: "a", tools }), refused(/"deploy"/));
  const agent = new Agent({ name: "a" });
  assert.throws(() => new Harness({ id: "x", agent, tools }), refused(/"deploy"/));
  assert.throws(
    () => new Harness({ id: "x", modes: [{ id: "m", agent, additionalTools: tools }] }),
    refused(/"deploy"/),
  );
  assert.throws(
    () => new Agent({ name: "a", tools: { "two words": defineTool({ description: "x", input, execute }) } }),
    refused(/"two words"/),
  );
  for (const odd of [5, null, "x", () => 1, {}, { execute }, { inputSchema: input }])
    assert.throws(
      () => new Agent({ name: "a", tools: { deploy: odd as never } }),
      refused(/deploy/),
      JSON.stringify(odd),
    );
});

test("a resume schema needs no JSON Schema, since the model does not see it", async () => {
  const day = defineTool({
    description: "Asks for a day",
    category: "control",
    input,
    resume: z.coerce.date(),
    execute: (_, { suspend, resumed }) => (resumed ? `year ${resumed.data.getUTCFullYear()}` : suspend("When?")),
  });
  await using h = await harness({ model: script(call("day"), say("done")), tools: { day } });
  h.subscribe((event) => {
    if (event.type === "tool_suspended") h.respondToToolSuspension({ resumeData: "2026-01-02" }).catch(assert.fail);
  });
  await h.sendMessage({ content: "go" });
  const end = h.seen.find((event) => event.type === "tool_end");
  assert.deepEqual([end?.result.content, end?.isError], ["year 2026", false]);
  const wrong = () =>
    made({ day: defineTool({ description: "x", input, resume: { a: z.string() } as never, execute }) });
  assert.throws(wrong, refused(/resume.*"day".*z\.object/s));
});
