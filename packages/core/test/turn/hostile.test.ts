import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, fail, finish, parts, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness, noting } from "../support.ts";

test("nothing a tool returns or throws breaks the loop", async () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const outcomes: Record<string, () => unknown> = {
    throws_circular: () => {
      throw circular;
    },
    throws_bigint: () => {
      throw 10n;
    },
    odd_message: () => {
      throw Object.assign(new Error(), { message: { not: "text" } });
    },
    throws_getter: () => {
      throw Object.defineProperty(new Error(), "message", { get: () => assert.fail() });
    },
    throws_unprintable: () => {
      throw Object.assign(Object.create(null), circular);
    },
    throws_revoked: () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      throw proxy;
    },
    circular: () => circular,
    bigint: () => 10n,
    nothing: () => undefined,
    bad_file: () => ({ content: [{ type: "file", data: new Uint8Array(1) }] }),
    many_texts: () => ({ content: Array.from({ length: 50 }, () => ({ type: "text", text: "x".repeat(99_000) })) }),
    half_letters: () => `a${"😀".repeat(100_000)}`,
  };
  const tools = Object.fromEntries(
    Object.entries(outcomes).map(([name, execute]) => [
      name,
      defineTool({ description: name, input: z.object({}), execute }),
    ]),
  );
  const model = script(call(...Object.keys(tools).map((name): [string] => [name])), say("done"));
  await using h = await harness({ model, tools });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const ends = h.seen.filter((event) => event.type === "tool_end");
  assert.deepEqual(Object.fromEntries(ends.map(({ toolName, isError }) => [toolName, isError])), {
    throws_circular: true,
    throws_bigint: true,
    odd_message: true,
    throws_getter: true,
    throws_unprintable: true,
    throws_revoked: true,
    circular: true,
    bigint: true,
    nothing: false,
    bad_file: true,
    many_texts: false,
    half_letters: false,
  });
  const sent = JSON.stringify(model.requests.at(-1)!.prompt);
  assert.ok(sent.length < 400_000);
  assert.ok(!/\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])/i.test(sent), "no lone surrogate is sent");
});

test("a schema, a pattern or a provider that throws a value that can't be shown fails its call, not the loop", async () => {
  const unprintable = (): never => {
    throw Object.create(null);
  };
  const input = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: unprintable,
      jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
    },
  };
  const odd = defineTool({ description: "Has a schema that throws", input, execute: () => "ran" });
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  await using h = await harness({ model: script(call("odd"), fail(circular)), tools: { odd } });
  const { reason, error } = await h.sendMessage({ content: "go" });
  assert.deepEqual([reason, error?.code], ["error", "PROVIDER_ERROR"]);
  const [end] = h.seen.filter((event) => event.type === "tool_end");
  assert.match(String(end?.result.content), /schema itself failed/);
});

test("a malformed part of a stream is dropped, and the answer is kept", async () => {
  const odd = [
    null,
    { type: "text-delta", id: "t" },
    { type: "source", sourceType: "url", url: "https://example.org" },
    { type: "custom" },
    { type: "file", data: { type: "data", data: "AAAA" } },
    { type: "tool-result", toolCallId: "x", result: 1 },
    { type: "from-next-year", anything: true },
  ] as never[];
  const model = script(
    parts(
      ...odd,
      { type: "text-start", id: "t", providerMetadata: null as never },
      { type: "text-delta", id: "t", delta: "kept" },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: Number.NaN }, outputTokens: { total: "12" } } as never,
      },
    ),
  );
  await using h = await harness({ model });
  const { reason, message } = await h.sendMessage({ content: "go" });
  assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "kept" }]]);
});

test("arguments may come as an object, and may be nested very deep", async () => {
  const { note, runs } = noting();
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const model = script(
    parts(
      { type: "tool-call", toolCallId: "a", toolName: "note", input: { what: "object" } as never },
      { type: "tool-call", toolCallId: "b", toolName: "note", input: deep },
      finish("tool-calls"),
    ),
    say("done"),
  );
  await using h = await harness({ model, tools: { note } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(
    runs.map((run) => (run as { what: string }).what),
    ["object"],
  );
});

test("every invalid command rejects, and its error says what is wrong", async () => {
  await using h = await harness({ model: script(say("hi")) });
  await assert.rejects(h.sendMessage(undefined as never), { code: "INVALID_INPUT" });
  await assert.rejects(h.editInput({ inputId: "x", content: "" }), { code: "INVALID_INPUT" });
  await assert.rejects(h.renameThread({ title: 5 as never }), { code: "INVALID_INPUT" });
  await assert.rejects(h.post({ content: "x", delivery: "later" as never }), { code: "INVALID_INPUT" });
  assert.throws(
    () => defineTool({ description: "x", effect: "twice" as never, input: z.object({}), execute: () => "" }),
    { code: "INVALID_CONFIG" },
  );
  const loop: Record<string, unknown> = { type: "object" };
  loop["properties"] = { self: loop };
  const looped = defineTool({ description: "x", input: loop, execute: () => "" });
  assert.throws(() => new Harness({ id: "x", agent: new Agent({ name: "a", tools: { looped } }) }), {
    code: "INVALID_CONFIG",
  });
});

test("a model that can't be resolved ends the turn with the error of resolveModel", async () => {
  const resolveModel = () => Promise.reject(new Error("no such model here"));
  const h = new Harness({ id: "x", agent: new Agent({ name: "a", model: "x/y" }), resolveModel });
  const { reason, error } = await h.sendMessage({ content: "go" });
  assert.deepEqual(
    [reason, error],
    ["error", { code: "PROVIDER_ERROR", message: "no such model here", retryable: false }],
  );
  await h.close();
});
