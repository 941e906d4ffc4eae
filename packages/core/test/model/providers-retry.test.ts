import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { Agent, defineTool, Harness, memoryStore, textOf, type HarnessEvent } from "@cinch/core";
import { call, fail, finish, hang, inTurn, parts, say, script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { stillClock } from "./providers-clock.ts";
import { until } from "../thread/reconnect-talk.ts";
import { permissions } from "../support.ts";

const busy = (headers: Record<string, string> = {}) =>
  fail(Object.assign(new Error("Busy"), { statusCode: 503, responseHeaders: headers }));

/** A harness on a clock that the test advances, with the events of a subscriber. */
async function waiting(...steps: Step[]) {
  const clock = stillClock();
  const model = script(...steps);
  const runs: unknown[] = [];
  const note = defineTool({
    description: "Notes",
    input: z.object({ what: z.string() }),
    execute: ({ what }) => {
      runs.push(what);
      return "noted";
    },
  });
  const agent = new Agent({ name: "a", model, tools: { note } });
  const harness = new Harness({ id: "test", storage: memoryStore(), agent, clock, permissions });
  await harness.createThread();
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => seen.push(event));
  const types = (...wanted: HarnessEvent["type"][]) =>
    seen.flatMap(({ type }) => (wanted.includes(type) ? [type] : []));
  return { harness, clock, model, seen, types, runs, [Symbol.asyncDispose]: () => harness.close() };
}

const ofType = <T extends HarnessEvent["type"]>(seen: readonly HarnessEvent[], type: T) =>
  seen.filter((event): event is Extract<HarnessEvent, { type: T }> => event.type === type);

test("an empty answer is retried once, and then is an error with a code", async () => {
  await using chat = await waiting(parts(finish("stop")));
  const result = await chat.clock.windUntil(chat.harness.sendMessage({ content: "hi" }));
  assert.deepEqual(result, {
    reason: "error",
    message: null,
    error: { code: "PROVIDER_EMPTY", message: "The model gave an empty answer (stop).", retryable: true },
  });
  assert.equal(chat.model.requests.length, 2);
});

test("reasoning alone is an empty answer too, and an answer at the second try counts", async () => {
  const thinks = parts({ type: "reasoning-delta", id: "r", delta: "Hm" }, finish("stop"));
  await using chat = await waiting(inTurn(thinks, say("Here.")));
  const { reason, message } = await chat.clock.windUntil(chat.harness.sendMessage({ content: "hi" }));
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "Here."]);
});

test("an answer that consists only of a provider's custom parts is empty", async () => {
  const mark = parts({ type: "custom", kind: "anthropic.message_start" }, finish("stop"));
  await using chat = await waiting(mark);
  const { error } = await chat.clock.windUntil(chat.harness.sendMessage({ content: "hi" }));
  assert.equal(error?.code, "PROVIDER_EMPTY");
});

test("a refusal is not retried", async () => {
  await using chat = await waiting(parts(finish("content-filter")));
  const { reason, error } = await chat.harness.sendMessage({ content: "hi" });
  assert.deepEqual(
    [reason, error?.code, error?.retryable, chat.model.requests.length],
    ["error", "PROVIDER_REFUSED", false, 1],
  );
});

test("a failed request is tried five times, with growing delays", async () => {
  await using chat = await waiting(busy());
  const { reason, error } = await chat.clock.windUntil(chat.harness.sendMessage({ content: "hi" }));
  assert.deepEqual([reason, error?.code, chat.model.requests.length], ["error", "PROVIDER_UNAVAILABLE", 5]);
  const waits = ofType(chat.seen, "retry_scheduled").map(({ delayMs }) => delayMs);
  assert.equal(waits.length, 4);
  for (const [at, ms] of waits.entries())
    assert.ok(ms >= 500 * 2 ** at && ms <= 1_000 * 2 ** at, `wait ${at}: ${ms} ms`);
});

test("the delay that a provider asks for is waited, up to a minute", async () => {
  await using chat = await waiting(
    inTurn(busy({ "retry-after": "30" }), busy({ "retry-after": "3600" }), say("Here.")),
  );
  const turn = chat.harness.sendMessage({ content: "hi" });
  await until(() => chat.types("retry_scheduled").length === 1);
  await chat.clock.wind(29_999);
  assert.equal(chat.model.requests.length, 1);
  await chat.clock.wind(1);
  await until(() => chat.types("retry_scheduled").length === 2);
  assert.equal((await chat.clock.windUntil(turn)).reason, "complete");
  assert.deepEqual(
    ofType(chat.seen, "retry_scheduled").map(({ delayMs }) => delayMs),
    [30_000, 60_000],
  );
});

test("a silence of a minute is a failed try, and the partial message is discarded", async () => {
  await using chat = await waiting(inTurn(hang("Half"), say("Whole.")));
  const { reason, message } = await chat.clock.windUntil(chat.harness.sendMessage({ content: "hi" }));
  assert.deepEqual([reason, textOf(message!.content)], ["complete", "Whole."]);
  const order = chat.types("message_start", "message_update", "message_discarded", "retry_scheduled", "message_end");
  const [asked, ...answered] = order;
  assert.equal(asked, "message_end");
  assert.deepEqual(answered.slice(0, 4), ["message_start", "message_update", "message_discarded", "retry_scheduled"]);
  assert.deepEqual(answered.slice(4), ["message_start", "message_update", "message_update", "message_end"]);
});

test("an abort ends the delay before a retry, and there is no further request", async () => {
  await using chat = await waiting(busy({ "retry-after": "50" }));
  const turn = chat.harness.sendMessage({ content: "hi" });
  await until(() => chat.types("retry_scheduled").length === 1);
  await chat.harness.abort();
  assert.deepEqual(await turn, { reason: "aborted", message: null });
  await chat.clock.wind(100_000);
  assert.equal(chat.model.requests.length, 1);
});

test("an abort while the model streams ends the turn, and the partial message is interrupted", async () => {
  await using chat = await waiting(hang("Half"));
  const turn = chat.harness.sendMessage({ content: "hi" });
  await until(() => chat.types("message_update").length === 1);
  await chat.harness.abort();
  assert.deepEqual(await turn, { reason: "aborted", message: null });
  const [, said] = chat.harness.getDisplayState().messages;
  assert.deepEqual([said?.interrupted, textOf(said!.content)], [true, "Half"]);
  assert.equal(chat.model.requests[0]?.abortSignal?.aborted, true);
});

const broken: Step = async function* () {
  yield { type: "text-delta", id: "t", delta: "Half" };
  throw Object.assign(new Error("No more"), { isRetryable: false });
};

test("the partial message of a final failure is kept for readers, but not sent to the model", async () => {
  await using chat = await waiting(inTurn(broken, say("Whole.")));
  assert.equal((await chat.harness.sendMessage({ content: "hi" })).error?.code, "PROVIDER_STREAM");
  await chat.harness.sendMessage({ content: "again" });
  const said = chat.harness
    .getDisplayState()
    .messages.map(({ content, interrupted }) => [textOf(content), interrupted]);
  assert.deepEqual(said, [
    ["hi", false],
    ["Half", true],
    ["again", false],
    ["Whole.", false],
  ]);
  assert.deepEqual(chat.model.requests[1]?.prompt, [
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "text", text: "again" },
      ],
    },
  ]);
});

const wrong = (value: string) => ({ type: "error-text", value });

test("bad arguments, an unknown tool and a second call with the same id are error results, and the turn continues", async () => {
  const careless = call(
    ["note", "{oops", "a"],
    ["note", { what: 1 }, "b"],
    ["notes", { what: "x" }, "c"],
    ["note", { what: "once" }, "d"],
    ["note", { what: "twice" }, "d"],
  );
  await using chat = await waiting(careless, say("I see."));
  const { reason } = await chat.harness.sendMessage({ content: "hi" });
  assert.deepEqual([reason, chat.runs], ["complete", ["once"]]);
  const results = chat.model.requests[1]!.prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
  const outputs = results.map((part): unknown => part.type === "tool-result" && [part.toolCallId, part.output]);
  assert.deepEqual(outputs.with(1, ["b", wrong("…")]), [
    ["a", wrong("The arguments are not a JSON object: {oops")],
    ["b", wrong("…")],
    ["c", wrong('There is no tool "notes". The tools are: note, ask_user, write_todos, task.')],
    ["d", { type: "text", value: "noted" }],
    ["d_2", wrong("Two calls of this answer had the same id. Only the first was run: call again if you need both.")],
  ]);
  assert.match(JSON.stringify(outputs[1]), /error-text.*Invalid arguments for note/);
});

const noteCall = (toolCallId: string): LanguageModelV4StreamPart => {
  return { type: "tool-call", toolCallId, toolName: "note", input: '{"what":"x"}' };
};

test("an answer that reached the length limit runs none of its calls", async () => {
  await using chat = await waiting(parts(noteCall("a"), noteCall("b"), finish("length")), say("I see."));
  const { reason } = await chat.harness.sendMessage({ content: "hi" });
  assert.deepEqual([reason, chat.runs], ["complete", []]);
  assert.deepEqual(
    ofType(chat.seen, "tool_end").map(({ toolCallId, isError, result }) => [toolCallId, isError, result.content]),
    ["a", "b"].map((id) => [id, true, "Not run: the answer was cut off by the length limit. Call again with less."]),
  );
});
