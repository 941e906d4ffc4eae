import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type ToolResult } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";

type End = { result: ToolResult; isError: boolean };

/** The result that the model and the UI get for a return value. */
async function resultOf(execute: () => unknown): Promise<End> {
  const give = defineTool({ description: "Gives something", input: z.object({}), execute });
  await using h = await harness({ model: script(call("give"), say("done")), tools: { give } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const [end] = h.seen.filter((event) => event.type === "tool_end");
  return { result: end!.result, isError: end!.isError };
}

const shown = (content: ToolResult["content"]): End => ({ result: { content }, isError: false });

test("an object with other keys than a result's is data, and the model gets all of it", async () => {
  const data: unknown[] = [
    { id: 7, content: "Hello", author: "ada" },
    { content: "Hello", detail: "misspelt" },
    { content: "Hello", isError: "yes" },
    { content: 5 },
    { content: [{ type: "video" }] },
    { content: [null] },
    { details: { a: 1 } },
    { isError: true },
    [{ type: "text", text: "not content by itself" }],
    {},
    [],
    5,
    true,
    null,
  ];
  for (const value of data) assert.deepEqual(await resultOf(() => value), shown(JSON.stringify(value)));
});

test("a result object has content, and may have details and isError", async () => {
  assert.deepEqual(await resultOf(() => "plain"), shown("plain"));
  assert.deepEqual(await resultOf(() => ({ content: "c" })), shown("c"));
  assert.deepEqual(await resultOf(() => ({ content: "c", details: { n: 1 }, isError: false })), {
    result: { content: "c", details: { n: 1 } },
    isError: false,
  });
  assert.deepEqual(await resultOf(() => ({ content: "no such page", isError: true })), {
    result: { content: "no such page" },
    isError: true,
  });
  const text = [{ type: "text", text: "a" }] as const;
  assert.deepEqual(await resultOf(() => ({ content: text })), shown([...text]));
  assert.deepEqual(await resultOf(() => undefined), shown("(no result)"));
});

class Account {
  readonly #balance = 5;
  get balance(): number {
    return this.#balance;
  }
}

test("a value that is not JSON becomes an error result that names the part, and what to return instead", async () => {
  const cycle: Record<string, unknown> = { name: "loop" };
  cycle["self"] = { cycle };
  const cases: [unknown, RegExp][] = [
    [10n, /BigInt.*String/s],
    [{ deep: [{ total: 10n }] }, /"deep\.0\.total" is a BigInt/],
    [cycle, /contains itself/],
    [new Map([["a", 1]]), /a Map.*Object\.fromEntries/s],
    [{ users: new Map() }, /"users" is a Map/],
    [new Set([1]), /a Set.*Array\.from/s],
    [new Response("body"), /a Response.*await.*text\(\)/s],
    [{ page: new Response("body") }, /"page" is a Response/],
    [new WeakMap(), /a WeakMap/],
    [() => 1, /a function/],
    [Symbol("s"), /a symbol/],
    [{ kind: Symbol("s") }, /"kind" is a symbol/],
    [new Account(), /an Account/],
    [[new Account()], /"0" is an Account/],
    [new Date("never"), /an invalid Date/],
    [{ at: new Date("never") }, /"at" is an invalid Date/],
    [NaN, /NaN/],
    [{ ratio: Infinity }, /"ratio" is Infinity/],
    [/x/, /a RegExp/],
    [new Uint8Array(3), /bytes.*type: "file"/s],
    [Buffer.from("x"), /bytes.*type: "file"/s],
    [{ data: new ArrayBuffer(2) }, /"data" is bytes/],
    [{ job: Promise.resolve(1) }, /"job" is a Promise.*await/s],
    [new Error("It broke"), /an Error.*It broke.*Throw/s],
    [{ failure: new TypeError("It broke") }, /"failure" is an Error.*It broke/s],
    [{ toJSON: () => 1n }, /a BigInt/],
    [{ toJSON: () => undefined }, /no JSON/],
    [
      {
        get broken(): never {
          throw new Error("getter broke");
        },
      },
      /getter broke/,
    ],
    [Array.from({ length: 20_000 }).reduce<unknown>((inner) => [inner], 1), /too deep/],
  ];
  for (const [value, says] of cases) {
    const { result, isError } = await resultOf(() => value);
    assert.equal(isError, true, String(says));
    assert.match(String(result.content), says);
    assert.match(String(result.content), /^The tool ran, but its result has no JSON/);
  }
});

test("a value with toJSON is shown as its JSON", async () => {
  class Money {
    readonly cents = 5;
    readonly print = () => "5";
  }
  const date = new Date(0);
  const cases: [unknown, string][] = [
    [{ at: date }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [new URL("https://example.org/a"), '"https://example.org/a"'],
    [new Money(), '{"cents":5}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    [Object.assign(Object.create(null) as object, { a: 1 }), '{"a":1}'],
    [{ run: () => 1, name: "x" }, '{"name":"x"}'],
    [{ twice: [date, date] }, JSON.stringify({ twice: [date, date] })],
  ];
  for (const [value, text] of cases) assert.deepEqual(await resultOf(() => value), shown(text));
});

test("details and progress that are not JSON are replaced by the reason, and the result stays", async () => {
  const { result, isError } = await resultOf(() => ({ content: "deployed", details: new Map([["url", "x"]]) }));
  assert.deepEqual([result.content, isError], ["deployed", false]);
  assert.match(JSON.stringify(result.details), /leftOut.*a Map/);
  const give = defineTool({
    description: "Gives",
    input: z.object({}),
    execute: (_, { emit }) => {
      emit({ size: 1n });
      return "done";
    },
  });
  await using h = await harness({ model: script(call("give"), say("done")), tools: { give } });
  await h.sendMessage({ content: "go" });
  const updates = h.seen.flatMap((event) => (event.type === "tool_update" ? [event.partialResult] : []));
  assert.match(JSON.stringify(updates), /leftOut.*BigInt/);
});

test("a suspension whose payload is not JSON is an error result", async () => {
  const ask = defineTool({
    description: "Asks",
    input: z.object({}),
    execute: (_, { suspend }) => suspend({ seats: new Set(["A"]) }),
  });
  await using h = await harness({ model: script(call("ask"), say("done")), tools: { ask } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const [end] = h.seen.filter((event) => event.type === "tool_end");
  assert.equal(end?.isError, true);
  assert.match(String(end?.result.content), /suspend.*"seats" is a Set/);
});

test("a file that a tool returns without data is an error result", async () => {
  for (const data of [undefined, 5, {}, "not base64!"]) {
    const { result, isError } = await resultOf(() => ({ content: [{ type: "file", mediaType: "image/png", data }] }));
    assert.equal(isError, true);
    assert.match(String(result.content), /file.*(data|base64)/);
  }
});
