import assert from "node:assert/strict";
import { test } from "node:test";
import { textOf } from "@cinch/core";
import { mocked, of, sdks, type Body, type SdkName } from "./providers-mock.ts";

const names = Object.keys(sdks) as SdkName[];
const long = "First this, then that, and in the end something else altogether.";
const twoCalls = {
  content: "Let me see.",
  reasoning: "I had better add.",
  reasoningSignature: "signature-1",
  toolCalls: [
    { name: "add", arguments: { a: 1 }, id: "toolu_1" },
    { name: "add", arguments: { a: 2 }, id: "toolu_2" },
  ],
};

for (const name of names) {
  test(`${name}: a text streams in and is the answer`, async () => {
    await using chat = await mocked(name, (mock) => mock.onMessage("hello", { content: long }, { chunkSize: 7 }));
    const { reason, message } = await chat.harness.sendMessage({ content: "hello" });
    assert.deepEqual([reason, textOf(message!.content)], ["complete", long]);
    const updates = of(chat.seen, "message_update");
    assert.ok(updates.length > 5, `${updates.length} deltas`);
    assert.equal(updates.map(({ delta }) => delta).join(""), long);
    assert.deepEqual(chat.problems(), []);
  });

  test(`${name}: two calls at once get their results in the next request, in order`, async () => {
    await using chat = await mocked(name, (mock) => {
      mock.on({ hasToolResult: true }, { content: "2 and 3." });
      mock.on({ userMessage: "add" }, twoCalls);
    });
    const { reason, message } = await chat.harness.sendMessage({ content: "add" });
    assert.deepEqual([reason, textOf(message!.content), chat.bodies.length], ["complete", "2 and 3.", 2]);
    assert.deepEqual(
      of(chat.seen, "tool_end").map(({ toolCallId, result }) => [toolCallId, result.content]),
      [
        ["toolu_1", "2"],
        ["toolu_2", "3"],
      ],
    );
    assert.deepEqual(chat.problems(), []);
    assert.deepEqual(resultsIn(chat.bodies[1]!), [
      ["toolu_1", "2"],
      ["toolu_2", "3"],
    ]);
  });

  test(`${name}: an answer that breaks off is discarded, and the request is retried`, async () => {
    await using chat = await mocked(name, (mock) => {
      const cut = { chunkSize: 4, latency: 5, truncateAfterChunks: 9 };
      mock.on({ userMessage: "hello", sequenceIndex: 0 }, { content: long }, cut);
      mock.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "Short and whole." });
    });
    const { reason, message } = await chat.harness.sendMessage({ content: "hello" });
    assert.deepEqual([reason, textOf(message!.content), chat.bodies.length], ["complete", "Short and whole.", 2]);
    const [discarded] = of(chat.seen, "message_discarded");
    const shown = of(chat.seen, "message_update").filter(({ messageId }) => messageId === discarded?.messageId);
    assert.ok(
      shown.length > 0 && long.startsWith(shown.map(({ delta }) => delta).join("")),
      "something had been shown",
    );
    assert.deepEqual(
      of(chat.seen, "retry_scheduled").map(({ attempt }) => attempt),
      [1],
    );
    const said = chat.harness.getDisplayState().messages.map(({ role, content }) => [role, textOf(content)]);
    assert.deepEqual(said, [
      ["user", "hello"],
      ["assistant", "Short and whole."],
    ]);
    assert.deepEqual(chat.bodies[1], chat.bodies[0], "what is asked again is the same");
  });

  test(`${name}: a rate limit is waited out for as long as the provider says`, async () => {
    await using chat = await mocked(name, (mock) => {
      const limit = { error: { message: "Slow down", type: "rate_limit_error" }, status: 429, retryAfter: 9 };
      mock.on({ userMessage: "hello", sequenceIndex: 0 }, limit);
      mock.on({ userMessage: "hello", sequenceIndex: 1 }, { content: "Here." });
    });
    const { reason } = await chat.harness.sendMessage({ content: "hello" });
    assert.equal(reason, "complete");
    assert.deepEqual(
      of(chat.seen, "retry_scheduled").map(({ attempt, delayMs, message }) => ({ attempt, delayMs, message })),
      [{ attempt: 1, delayMs: 9_000, message: "Slow down" }],
    );
  });

  test(`${name}: five failures of the server end the turn with an error`, async () => {
    const broken = { error: { message: "Broken", type: "server_error" }, status: 500 };
    await using chat = await mocked(name, (mock) => mock.onMessage("hello", broken));
    const { reason, error, message } = await chat.harness.sendMessage({ content: "hello" });
    assert.deepEqual(
      [reason, error, message],
      ["error", { code: "PROVIDER_UNAVAILABLE", message: "Broken", retryable: true }, null],
    );
    assert.equal(chat.bodies.length, 5);
    const waits = of(chat.seen, "retry_scheduled").map(({ delayMs }) => delayMs);
    const bounds = [1_000, 2_000, 4_000, 8_000];
    assert.deepEqual(
      waits.map((ms, at) => ms >= bounds[at]! / 2 && ms <= bounds[at]!),
      [true, true, true, true],
    );
  });

  test(`${name}: a request with a wrong key is not retried`, async () => {
    const refused = { error: { message: "Invalid key.", type: "authentication_error" }, status: 401 };
    await using chat = await mocked(name, (mock) => mock.onMessage("hello", refused));
    const { error } = await chat.harness.sendMessage({ content: "hello" });
    assert.deepEqual([error?.code, chat.bodies.length], ["PROVIDER_AUTH", 1]);
  });
}

/** The tool results in a request, in any of the three formats. */
function resultsIn({ messages = [], input = [] }: Body): unknown[] {
  const blocks = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Record<string, unknown>[]) : [],
  );
  return [
    ...blocks.filter(({ type }) => type === "tool_result").map((block) => [block["tool_use_id"], block["content"]]),
    ...messages.flatMap((item) => ("tool_call_id" in item ? [[item.tool_call_id, item.content]] : [])),
    ...input.flatMap((item) => (item["type"] === "function_call_output" ? [[item["call_id"], item["output"]]] : [])),
  ];
}

test("anthropic: reasoning goes back with its signature, before the call that it led to", async () => {
  await using chat = await mocked("anthropic", (mock) => {
    mock.on({ hasToolResult: true }, { content: "2 and 3." });
    mock.on({ userMessage: "add" }, twoCalls);
  });
  await chat.harness.sendMessage({ content: "add" });
  assert.deepEqual(chat.bodies[1]!.messages[1], {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "I had better add.", signature: "signature-1" },
      { type: "text", text: "Let me see." },
      { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } },
      { type: "tool_use", id: "toolu_2", name: "add", input: { a: 2 }, cache_control: { type: "ephemeral" } },
    ],
  });
});

test("openai responses: reasoning goes back as the item it was", async () => {
  await using chat = await mocked("openai responses", (mock) => {
    mock.on({ hasToolResult: true }, { content: "2 and 3." });
    mock.on({ userMessage: "add" }, twoCalls);
  });
  await chat.harness.sendMessage({ content: "add" });
  const said = chat.harness.getDisplayState().messages[1]!.content;
  const itemOf = (type: string) =>
    said.find((part) => part.type === type)?.providerMetadata?.["openai"] as { itemId: string };
  const { input } = chat.bodies[1]!;
  assert.deepEqual(
    input.filter(({ type }) => type === "item_reference").map(({ id }) => id),
    [itemOf("reasoning").itemId, itemOf("text").itemId],
  );
});

test("anthropic: an error inside the stream gets the right code, and the request is retried", async () => {
  const overloaded = [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1,"output_tokens":1}}}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Half a"}}',
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  ];
  const headers = { "content-type": "text/event-stream" };
  await using chat = await mocked(
    "anthropic",
    (mock) => mock.onMessage("hello", { content: "Whole." }),
    (nth) => (nth === 1 ? new Response(`${overloaded.join("\n\n")}\n\n`, { headers }) : undefined),
  );
  const { reason, message } = await chat.harness.sendMessage({ content: "hello" });
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "Whole."]);
  assert.deepEqual(
    of(chat.seen, "message_discarded").map((event) => event.reason),
    ["Overloaded"],
  );
  assert.equal(of(chat.seen, "message_update")[0]?.delta, "Half a");
});
