import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { AnswerBuilder } from "../../src/model/answer-builder.ts";
import type { AnswerSink } from "../../src/model/answer.ts";
import type { Part } from "../../src/events/message.ts";

const LARGE = "x".repeat(32_000_001);
const quiet: AnswerSink = { text: () => undefined, toolInput: () => undefined };

type Sent = Record<string, unknown>;

/** At least one part of each kind that a stream may have. The compiler says which is missing. */
const EXAMPLES: Record<LanguageModelV4StreamPart["type"] | "of an unknown type", Sent[]> = {
  "text-start": [{ id: "t" }],
  "text-delta": [{ id: "t", delta: "Hello" }],
  "text-end": [{ id: "t", citations: [{ title: "A page" }] }],
  "reasoning-start": [{ id: "r" }],
  "reasoning-delta": [{ id: "r", delta: "Hm" }],
  "reasoning-end": [{ id: "r" }],
  "tool-input-start": [{ id: "a", toolName: "note", title: "Note" }],
  "tool-input-delta": [{ id: "a", delta: '{"what"' }],
  "tool-input-end": [{ id: "a" }],
  "tool-call": [
    { toolCallId: "c", toolName: "note", input: '{"what":"x"}' },
    { toolCallId: "c", toolName: "note", input: { what: "x" } },
    { toolCallId: "c", toolName: "web", input: { what: ["x"] }, providerExecuted: true },
  ],
  "tool-result": [
    { toolCallId: "c", toolName: "web", result: { pages: [{ text: "x" }] } },
    { toolCallId: "c", toolName: "web", result: "x", preliminary: true },
  ],
  "tool-approval-request": [{ approvalId: "a", toolCallId: "c" }],
  file: [
    { mediaType: "image/png", data: { type: "data", data: "AAAA" } },
    { mediaType: "image/png", data: { type: "data", data: new Uint8Array(4) } },
    { mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a.png") } },
  ],
  "reasoning-file": [{ mediaType: "image/png", data: { type: "data", data: new Uint8Array(4) } }],
  source: [
    { sourceType: "url", id: "s", url: "https://example.org", title: "A page" },
    { sourceType: "document", id: "s", mediaType: "text/plain", title: "A text", filename: "a.txt" },
  ],
  custom: [{ kind: "a.b" }],
  "stream-start": [{ warnings: [{ type: "other", message: "Careful" }] }],
  "response-metadata": [{ id: "r", modelId: "m" }],
  finish: [{ usage: {}, finishReason: { unified: "stop", raw: "stop" } }],
  raw: [{ rawValue: { chunk: "x" } }],
  error: [{ error: "cut" }],
  ping: [{}],
  "of an unknown type": [{ thought: { about: "x" } }],
};

/** The part once for each place of it that has text or bytes, with very much in this place. */
function* enlarged(value: unknown): Generator<[place: string, value: unknown]> {
  if (typeof value === "string") yield ["", LARGE];
  else if (value instanceof Uint8Array) yield ["", new Uint8Array(LARGE.length)];
  else if (value instanceof URL) yield ["", new URL(`https://example.org/${LARGE}`)];
  else if (Array.isArray(value)) for (const [place, item] of enlarged(value[0])) yield [`[0]${place}`, [item]];
  else if (typeof value === "object" && value !== null)
    for (const [key, field] of Object.entries(value))
      // What decides of which kind it is stays.
      if (!["type", "sourceType"].includes(key))
        for (const [place, item] of enlarged(field)) yield [`.${key}${place}`, { ...value, [key]: item }];
}

const providerMetadata = { provider: { signature: "x" } };

for (const [type, examples] of Object.entries(EXAMPLES))
  test(`whatever is large in a part counts, wherever it is: ${type}`, () => {
    for (const example of examples) {
      const part = { type, ...example };
      const metadata = [...enlarged({ providerMetadata })].map(
        ([place, large]) => [place, { ...part, ...(large as Sent) }] as const,
      );
      for (const [place, large] of [...enlarged(part), ...metadata]) {
        const builder = new AnswerBuilder(quiet);
        builder.add(part as LanguageModelV4StreamPart);
        assert.equal(builder.size.isTooLarge, false);
        builder.add(large as LanguageModelV4StreamPart);
        assert.equal(builder.size.isTooLarge, true, `${place} of ${JSON.stringify(part)}`);
      }
    }
  });

const custom = (n: number): LanguageModelV4StreamPart => ({ type: "custom", kind: `part.${n}` });
const word = (id: string, delta: string): LanguageModelV4StreamPart => ({ type: "text-delta", id, delta });

test("an answer of more than 4,000 parts is too large, however small they are", () => {
  const builder = new AnswerBuilder(quiet);
  for (let n = 0; n < 4_000; n++) builder.add(n % 2 ? custom(n) : word(`t${n}`, "x"));
  assert.equal(builder.size.isTooLarge, false);
  assert.equal(builder.content.length, 4_000);
  builder.add(word("t0", "y"));
  assert.equal(builder.size.isTooLarge, false, "text that continues is no part of its own");
  for (let n = 0; n < 100; n++) builder.add(custom(n));
  assert.equal(builder.size.isTooLarge, true);
  assert.equal(builder.content.length, 4_000, "no more are kept");
});

test("a part is added in place: the parts before it are copied only when a subscriber has seen them", () => {
  const builder = new AnswerBuilder(quiet);
  builder.add(custom(0));
  const { content } = builder;
  for (let n = 1; n < 1_000; n++) builder.add(custom(n));
  assert.ok(builder.content === content);
  assert.equal(content.length, 1_000);
});

test("what a subscriber has seen of an answer does not change with the parts after it", () => {
  const seen: (readonly Part[])[] = [];
  const builder = new AnswerBuilder({ ...quiet, text: ({ content }) => void seen.push(content) });
  for (const part of [word("t", "One"), custom(1), custom(2), word("t", " two"), word("u", "Three")]) builder.add(part);
  builder.add({ type: "text-end", id: "u", providerMetadata: { provider: { signature: "s" } } });
  const first = { type: "custom", kind: "part.1" };
  const second = { type: "custom", kind: "part.2" };
  const both = { type: "text", text: "One two" };
  assert.deepEqual(seen, [
    [{ type: "text", text: "One" }],
    [both, first, second],
    [both, first, second, { type: "text", text: "Three" }],
  ]);
});

test("a malformed part is dropped, or what is malformed in it, and the answer continues", () => {
  const cycle: Sent = {};
  cycle["of"] = cycle;
  const odd: unknown[] = [
    undefined,
    null,
    "text",
    { type: "file", mediaType: "image/png" },
    { type: "file", mediaType: "image/png", data: { type: "data", data: "%" } },
    { type: "file", mediaType: "image/png", data: { type: "data" } },
    { type: "custom", kind: 7 },
    { type: "custom", kind: "a.b", providerMetadata: cycle },
    { type: "text-delta", id: "t", delta: "One", providerMetadata: { count: 1n } },
    { type: "text-delta", id: "t", delta: " two", providerMetadata: ["odd"] },
    { type: "finish", finishReason: { unified: "stop" } },
  ];
  const builder = new AnswerBuilder(quiet);
  for (const part of odd) builder.add(part as LanguageModelV4StreamPart);
  const outcome = builder.outcome();
  assert.equal(outcome.kind, "answer");
  assert.deepEqual(outcome.kind === "answer" && outcome.answer.content, [
    { type: "custom", kind: "a.b" },
    { type: "text", text: "One two" },
  ]);
});
