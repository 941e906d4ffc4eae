import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { systemClock } from "../../src/ports/clock.ts";
import type { Clock } from "@cinch/core";
import { fail, finish, hang, parts, say, script, type Step } from "@cinch/testkit";
import { streamAnswer, type AnswerSink, type AnswerOutcome } from "../../src/model/answer.ts";
import { stillClock } from "./providers-clock.ts";

const silent: AnswerSink = { text: () => undefined, toolInput: () => undefined };

interface Asked {
  clock?: Clock;
  signal?: AbortSignal;
  sink?: AnswerSink;
}

const ask = (step: Step, { clock = systemClock, signal = new AbortController().signal, sink = silent }: Asked = {}) =>
  streamAnswer({ model: script(step), prompt: [], tools: [], signal, clock, sink });

async function answerTo(...stream: LanguageModelV4StreamPart[]) {
  const outcome = await ask(parts(...stream, finish("stop")));
  assert.equal(outcome.kind, "answer");
  return (outcome as Extract<AnswerOutcome, { kind: "answer" }>).answer;
}

const callPart = (toolCallId: string, input = "{}", toolName = "add"): LanguageModelV4StreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
});

test("parts of unknown types are ignored", async () => {
  const odd = [{ type: "telepathy", thought: "?" }, { type: "ping" }, { type: "raw", rawValue: 1 }];
  const text: LanguageModelV4StreamPart[] = [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "hi" },
  ];
  const { content } = await answerTo(...(odd as LanguageModelV4StreamPart[]), ...text);
  assert.deepEqual(content, [{ type: "text", text: "hi" }]);
});

test("arguments that are not a JSON object are refused, and the reason quotes them", async () => {
  const { content, refused } = await answerTo(
    callPart("a", "{oops"),
    callPart("b", "[1]"),
    callPart("c", ""),
    callPart("d", "null"),
  );
  assert.deepEqual(
    content,
    ["a", "b", "c", "d"].map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "add", input: {} })),
  );
  assert.deepEqual(
    [...refused],
    [
      ["a", "The arguments are not a JSON object: {oops"],
      ["b", "The arguments are not a JSON object: [1]"],
      ["d", "The arguments are not a JSON object: null"],
    ],
  );
});

test("of two calls with the same id, the second gets another id and may not run", async () => {
  const { content, refused } = await answerTo(callPart("x", '{"n":1}'), callPart("x", '{"n":2}'), callPart("x_2"));
  assert.deepEqual(
    content.map((part) => part.type === "tool-call" && [part.toolCallId, part.input]),
    [
      ["x", { n: 1 }],
      ["x_2", { n: 2 }],
      ["x_2_2", {}],
    ],
  );
  assert.deepEqual([...refused.keys()], ["x_2"]);
});

test("ids and names are reduced to what every provider accepts, and are no properties of objects", async () => {
  const ids = ["constructor", "__proto__", "a b:c", "", "x".repeat(100)];
  const { content } = await answerTo(...ids.map((id) => callPart(id, "{}", "my tool/1")));
  assert.deepEqual(
    content.map((part) => part.type === "tool-call" && [part.toolCallId, part.toolName]),
    ["call_constructor", "call___proto__", "a_b_c", "call", "x".repeat(60)].map((id) => [id, "my_tool_1"]),
  );
});

test("calls that a provider ran itself keep their ids, and preliminary results are dropped", async () => {
  const hosted = { toolCallId: "srv.1", toolName: "mcp.search" };
  const { content, refused } = await answerTo(
    { type: "tool-call", ...hosted, input: '{"q":1}', providerExecuted: true },
    { type: "tool-result", ...hosted, result: { partial: true }, preliminary: true },
    { type: "tool-result", ...hosted, result: { hits: [], none: undefined } as never, isError: true },
  );
  assert.deepEqual(content, [
    { type: "tool-call", ...hosted, input: { q: 1 }, providerExecuted: true },
    { type: "tool-result", ...hosted, result: { hits: [] }, isError: true },
  ]);
  assert.equal(refused.size, 0);
});

test("the metadata of a part is kept as JSON", async () => {
  const signature = { anthropic: { signature: "s", note: undefined } } as never;
  const { content } = await answerTo(
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "Hm" },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: signature },
    { type: "reasoning-end", id: "0" },
    { type: "source", sourceType: "url", id: "s1", url: "https://example.com", title: undefined } as never,
    { ...callPart("x"), providerMetadata: { google: { thoughtSignature: "g" } } } as LanguageModelV4StreamPart,
  );
  assert.deepEqual(content, [
    { type: "reasoning", text: "Hm", providerMetadata: { anthropic: { signature: "s" } } },
    { type: "source", id: "s1", source: { sourceType: "url", url: "https://example.com" } },
    {
      type: "tool-call",
      toolCallId: "x",
      toolName: "add",
      input: {},
      providerMetadata: { google: { thoughtSignature: "g" } },
    },
  ]);
});

const block = (delta: string): LanguageModelV4StreamPart[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta },
  { type: "text-end", id: "0" },
];

test("an id that is used again after its block has ended begins another block", async () => {
  const { content } = await answerTo(...block("before"), callPart("x"), ...block("after"));
  assert.deepEqual(
    content.map((part) => ("text" in part ? part.text : part.type)),
    ["before", "tool-call", "after"],
  );
});

test("blocks that stream at the same time stay separate, and empty blocks get no index", async () => {
  const seen: unknown[] = [];
  const sink: AnswerSink = { ...silent, text: ({ index, part, delta }) => seen.push([index, part, delta]) };
  const stream: LanguageModelV4StreamPart[] = [
    { type: "reasoning-start", id: "0", providerMetadata: { openai: { itemId: "rs_1" } } },
    { type: "reasoning-end", id: "0" },
    { type: "text-start", id: "a" },
    { type: "text-delta", id: "a", delta: "1" },
    { type: "reasoning-start", id: "a" },
    { type: "reasoning-delta", id: "a", delta: "2" },
    { type: "text-delta", id: "a", delta: "3" },
  ];
  await ask(parts(...stream, finish("stop")), { sink });
  assert.deepEqual(seen, [
    [0, "text", "1"],
    [1, "reasoning", "2"],
    [0, "text", "3"],
  ]);
});

test("files come as bytes, as base64 or by URL", async () => {
  const { content, files } = await answerTo(
    { type: "text-start", id: "empty" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: Uint8Array.of(4) } },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
  );
  assert.deepEqual(content, [
    { type: "file", mediaType: "image/png" },
    { type: "file", mediaType: "image/png", reasoning: true },
    { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
  ]);
  assert.deepEqual(
    [...files].map(([at, bytes]) => [at, [...bytes]]),
    [
      [0, [1, 2, 3]],
      [1, [4]],
    ],
  );
});

test("a stream that ends before its answer is complete is a failure, with the partial answer", async () => {
  const outcome = await ask(parts({ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "Half" }));
  assert.deepEqual(outcome, {
    kind: "failed",
    failure: {
      code: "PROVIDER_STREAM_CUT",
      message: "The model's stream ended before its answer was complete.",
      retryable: true,
    },
    partial: [{ type: "text", text: "Half" }],
  });
});

const lingering: Step = async function* (options) {
  yield* say("Whole.")(options);
  await new Promise(() => undefined);
};

test("a connection that stays open after the end of the answer does not delay it", async () => {
  assert.equal((await ask(lingering)).kind, "answer");
});

test("a failure before the first part, and one after it", async () => {
  const broken = new Error("no");
  const before = await ask(fail(broken));
  assert.deepEqual(before, {
    kind: "failed",
    failure: { code: "PROVIDER_ERROR", message: "no", retryable: false, cause: broken },
    partial: [],
  });
  const after = await ask(async function* () {
    yield { type: "text-delta", id: "t", delta: "Half" };
    throw broken;
  });
  assert.deepEqual(after, {
    kind: "failed",
    failure: { code: "PROVIDER_STREAM", message: "no", retryable: true, cause: broken },
    partial: [{ type: "text", text: "Half" }],
  });
});

const deaf: Step = async function* () {
  yield { type: "text-delta", id: "t", delta: "Half" };
  await new Promise(() => undefined);
};
/** A request that is never answered. */
const mute: Step = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });

test("an answer that an SDK ends as interrupted has broken off, and its calls are not run", async () => {
  const call = { type: "tool-call", toolCallId: "c", toolName: "look", input: "{}" } as const;
  const outcome = await ask(
    parts({ type: "text-delta", id: "t", delta: "The password is hun" }, call, finish("interrupted" as never)),
  );
  assert.equal(outcome.kind, "failed");
  const { failure, partial } = outcome as Extract<AnswerOutcome, { kind: "failed" }>;
  assert.deepEqual([failure.code, failure.retryable], ["PROVIDER_STREAM_CUT", true]);
  assert.deepEqual(partial[0], { type: "text", text: "The password is hun" });
});

test("a model that sends nothing for five minutes has failed, before its first part and after it", async () => {
  for (const step of [hang(), hang("Half"), mute]) {
    const clock = stillClock();
    let outcome: AnswerOutcome | undefined;
    const asked = ask(step, { clock }).then((value) => (outcome = value));
    await clock.wind(299_999);
    assert.equal(outcome, undefined);
    await clock.wind(1);
    const { kind, failure } = (await asked) as Extract<AnswerOutcome, { kind: "failed" }>;
    assert.deepEqual([kind, failure.code, failure.retryable], ["failed", "PROVIDER_SILENT", true]);
    assert.deepEqual(clock.waiting(), [], "no timer is left behind");
  }
});

test("a model that is slow but alive is waited for", async () => {
  const clock = stillClock();
  const slow: Step = async function* () {
    for (let n = 0; n < 5; n++) {
      await new Promise<void>((resolve) => void clock.after(50_000, resolve));
      yield n < 4 ? { type: "ping" } : { type: "text-delta", id: "t", delta: "At last." };
    }
    yield finish("stop");
  };
  const asked = ask(slow, { clock });
  await clock.wind(250_000);
  assert.equal((await asked).kind, "answer");
});

test("an abort ends the stream with the partial answer, also if the provider ignores the signal", async () => {
  for (const [step, partial] of [
    [deaf, [{ type: "text", text: "Half" }]],
    [mute, []],
  ] as const) {
    const stop = new AbortController();
    const asked = ask(step, { signal: stop.signal });
    await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    assert.deepEqual(await asked, { kind: "aborted", partial });
  }
  assert.deepEqual(await ask(say("x"), { signal: AbortSignal.abort() }), { kind: "aborted", partial: [] });
});
