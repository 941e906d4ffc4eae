import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type HarnessEvent } from "@cinch/core";
import { call, hang, inTurn, say, script } from "@cinch/testkit";
import * as z from "zod";
import { asking, gated, harness, next, noting, onlyHere, texts } from "../support.ts";

const MERGED = onlyHere("a server merges deltas");

const durable = (events: readonly HarnessEvent[]) => events.filter((event) => "v" in event).map((event) => event.type);
const results = (events: readonly HarnessEvent[]) =>
  events.flatMap((event) =>
    event.type === "tool_end" ? [{ content: event.result.content, isError: event.isError }] : [],
  );

test("a turn with a tool call leaves these events, in this order", async () => {
  const { note } = noting();
  await using h = await harness({ model: script(call("note", { what: "x" }), say("done")), tools: { note } });
  const result = await h.sendMessage({ content: "go" });
  assert.equal(result.reason, "complete");
  assert.deepEqual(result.message?.content, [{ type: "text", text: "done" }]);
  assert.deepEqual(durable(h.seen), [
    "input_accepted",
    "thread_renamed",
    "agent_start",
    "input_taken",
    "message_end",
    "prompt_head",
    "message_end",
    "usage_update",
    "tool_start",
    "tool_end",
    "step_end",
    "message_end",
    "usage_update",
    "step_end",
    "agent_end",
  ]);
});

test("message_update shows the message as it was at that delta, also when it is read later", MERGED, async () => {
  await using h = await harness({ model: script(say("abcdef", { size: 2 })) });
  await h.sendMessage({ content: "go" });
  const updates = h.seen.filter((event) => event.type === "message_update");
  assert.deepEqual(
    updates.map((event) => event.message.content),
    [[{ type: "text", text: "ab" }], [{ type: "text", text: "abcd" }], [{ type: "text", text: "abcdef" }]],
  );
  assert.ok(!Object.keys(updates[0]!).includes("message"));
});

test("calls of one step run in parallel, and their results are in the order of the calls", async () => {
  const order: string[] = [];
  const slow = defineTool({
    description: "Takes a while",
    input: z.object({ ms: z.number() }),
    execute: async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      order.push(`${ms}`);
      return `${ms}`;
    },
  });
  const model = script(call(["slow", { ms: 40 }], ["slow", { ms: 1 }]), say("done"));
  await using h = await harness({ model, tools: { slow } });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(order, ["1", "40"]);
  const last = model.requests.at(-1)!.prompt.at(-1)!;
  assert.deepEqual(last.role === "tool" && last.content.map((part) => part.type === "tool-result" && part.output), [
    { type: "text", value: "40" },
    { type: "text", value: "1" },
  ]);
});

test("a tool that throws, an unknown tool and wrong arguments give error results, and the turn continues", async () => {
  const broken = defineTool({
    description: "Breaks",
    input: z.object({ n: z.number() }),
    execute: () => {
      throw new Error("it broke");
    },
  });
  const model = script(call(["broken", { n: 1 }], ["missing", {}], ["broken", { n: "one" }]), say("done"));
  await using h = await harness({ model, tools: { broken } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const said = results(h.seen).map(({ content, isError }) => [String(content).split("\n")[0], isError]);
  assert.deepEqual(said.toSorted(), [
    ["Invalid arguments for broken:", true],
    ['There is no tool "missing". The tools are: broken, ask_user, write_todos, task.', true],
    ["it broke", true],
  ]);
});

test("a tool that hangs past its timeout gives an error result that says so", async () => {
  const hanging = defineTool({
    description: "Hangs",
    input: z.object({}),
    timeoutMs: 20,
    execute: () => new Promise(() => undefined),
  });
  await using h = await harness({ model: script(call("hanging"), say("done")), tools: { hanging } });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(results(h.seen), [
    {
      content: "Timed out after 20 ms. The tool did not stop in time: its effect is unknown, verify before retrying.",
      isError: true,
    },
  ]);
});

test("details are for the UI, content for the model; details that are not JSON are replaced by the reason", async () => {
  const rich = defineTool({
    description: "Rich",
    input: z.object({}),
    execute: () => ({ content: "for the model", details: { big: 10n, list: [1, undefined] } }),
  });
  await using h = await harness({ model: script(call("rich"), say("done")), tools: { rich } });
  await h.sendMessage({ content: "go" });
  const end = h.seen.find((event) => event.type === "tool_end");
  const leftOut = 'Not JSON: "big" is a BigInt. Give it as a text, with String(value).';
  assert.deepEqual(end?.result, { content: "for the model", details: { leftOut } });
});

test("a tool() of the AI SDK works as it is", async () => {
  const weather = {
    description: "Weather",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }: { city: string }) => ({ city, degrees: 21 }),
  };
  await using h = await harness({ model: script(call("weather", { city: "Rome" }), say("done")), tools: { weather } });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(results(h.seen), [{ content: '{"city":"Rome","degrees":21}', isError: false }]);
});

test("a plain JSON Schema is checked too", async () => {
  const { runs } = noting();
  const plain = defineTool<{ n: number }>({
    description: "Plain",
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    execute: ({ n }) => {
      runs.push(n);
      return `${n}`;
    },
  });
  await using h = await harness({
    model: script(call(["plain", { n: 1 }], ["plain", { n: "x" }]), say("done")),
    tools: { plain },
  });
  await h.sendMessage({ content: "go" });
  assert.deepEqual(runs, [1]);
  assert.deepEqual(
    results(h.seen)
      .map(({ isError }) => isError)
      .toSorted(),
    [false, true],
  );
});

test("files go to the model and come back from the store as bytes", async () => {
  const model = script(say("a picture"));
  await using h = await harness({ model });
  const data = new Uint8Array([1, 2, 3]);
  await h.sendMessage({ content: "what is this?", files: [{ mediaType: "image/png", data, filename: "x.png" }] });
  assert.deepEqual(model.requests[0]!.prompt.at(-1), {
    role: "user",
    content: [
      { type: "text", text: "what is this?" },
      { type: "file", mediaType: "image/png", filename: "x.png", data: { type: "data", data } },
    ],
  });
});

test("maxSteps ends the turn with that reason", async () => {
  const { note } = noting();
  const model = script(call("note", { what: "1" }), call("note", { what: "2" }), say("never said"));
  await using h = await harness({ model, tools: { note }, maxSteps: 2 });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "max_steps");
});

test("a steer reaches the running turn after the calls of its step, and never before their results", async () => {
  const { gate, started, open } = gated();
  const model = script(call("gate"), say("ok, steered"));
  await using h = await harness({ model, tools: { gate } });
  const turn = h.sendMessage({ content: "go" });
  await started;
  await h.steer({ content: "use SQLite" });
  open();
  await turn;
  assert.deepEqual(texts(h.seen), ["user: go", "assistant: tool-call", "user: use SQLite", "assistant: ok, steered"]);
  assert.deepEqual(
    model.requests[1]!.prompt.map((message) => message.role),
    ["system", "user", "assistant", "tool", "user"],
  );
  assert.equal(h.seen.filter((event) => event.type === "agent_end").length, 1);
});

const DURING = onlyHere("the answer may end before the message arrives");
test("a steer that arrives during the last answer still belongs to the turn", DURING, async () => {
  await using h = await harness({ model: script(say("slow answer", { delayMs: 5 }), say("second")) });
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  await h.steer({ content: "wait" });
  const { message } = await turn;
  assert.deepEqual(message?.content, [{ type: "text", text: "second" }]);
  assert.equal(h.seen.filter((event) => event.type === "agent_start").length, 1);
});

test("a follow-up is a turn of its own, after this one", async () => {
  const { gate, started, open } = gated();
  await using h = await harness({ model: script(call("gate"), say("first"), say("second")), tools: { gate } });
  const first = h.sendMessage({ content: "one" });
  await started;
  const second = h.sendMessage({ content: "two" });
  await h.followUp({ content: "three" });
  assert.equal(h.getDisplayState().queuedFollowUps, 2);
  open();
  assert.deepEqual((await first).message?.content, [{ type: "text", text: "first" }]);
  assert.deepEqual((await second).message?.content, [{ type: "text", text: "second" }]);
});

test("abort while the model streams keeps the partial message for readers, and leaves it out of prompts", async () => {
  const model = script(hang("half a sen"), say("next answer"));
  await using h = await harness({ model });
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  await h.abort();
  assert.deepEqual(await turn, { reason: "aborted", message: null });
  const shown = h.getDisplayState().messages.at(-1);
  assert.deepEqual([shown?.content, shown?.interrupted], [[{ type: "text", text: "half a sen" }], true]);
  const later = h.sendMessage({ content: "again" });
  await next(h, "message_update");
  await h.abort();
  await later;
  const prompt = model.requests.at(-1)!.prompt;
  assert.deepEqual(prompt.slice(1), [
    {
      role: "user",
      content: [
        { type: "text", text: "go" },
        { type: "text", text: "again" },
      ],
    },
  ]);
});

test("abort ends a tool that ignores its signal, and says that its outcome is unknown", async () => {
  const { gate: deaf, started } = gated();
  await using h = await harness({ model: script(call("deaf"), say("never")), tools: { deaf } });
  const turn = h.sendMessage({ content: "go" });
  await started;
  await h.abort();
  assert.equal((await turn).reason, "aborted");
  const end = h.seen.find((event) => event.type === "tool_end");
  assert.deepEqual([end?.isError, end?.unknown], [true, true]);
  assert.equal(h.getDisplayState().status, "idle");
});

test("after an abort queued inputs wait for resume(), or for the next input", async () => {
  await using h = await harness({ model: script(inTurn(hang("…"), say("queued"), hang("…"), say("both"))) });
  for (const goOn of [() => h.resume(), () => h.post({ content: "next", delivery: "send" })]) {
    const turn = h.sendMessage({ content: "go" });
    await next(h, "message_update");
    await h.followUp({ content: "later" });
    await h.abort();
    assert.equal((await turn).reason, "aborted");
    assert.deepEqual(
      (await h.listInbox()).map((item) => item.content),
      ["later"],
    );
    assert.equal(h.getDisplayState().status, "idle");
    const ended = next(h, "agent_end");
    await goOn();
    assert.equal((await ended).reason, "complete");
    await h.rewind({ toSeq: 1 });
  }
});

test("abort({ inbox: true }) drops queued inputs, and their sendMessage resolves with aborted", async () => {
  await using h = await harness({ model: script(hang("…")) });
  const turn = h.sendMessage({ content: "go" });
  await next(h, "message_update");
  const queued = h.sendMessage({ content: "later" });
  await next(h, "follow_up_queued");
  await h.abort({ inbox: true });
  assert.deepEqual(await turn, { reason: "aborted", message: null });
  assert.deepEqual(await queued, { reason: "aborted", message: null });
  assert.deepEqual(await h.listInbox(), []);
});

test("queued inputs can be edited and removed until they are taken", async () => {
  const { gate, started, open } = gated();
  const model = script(call("gate"), say("first"), say("second"));
  await using h = await harness({ model, tools: { gate } });
  const turn = h.sendMessage({ content: "one" });
  await started;
  const edited = await h.followUp({ content: "tow" });
  const removed = h.sendMessage({ content: "three" });
  const [, three] = await h.listInbox();
  await h.editInput({ inputId: edited.inputId, content: "two" });
  await h.removeInput({ inputId: three!.inputId });
  assert.deepEqual(await removed, { reason: "aborted", message: null });
  open();
  await turn;
  while (h.seen.filter(({ type }) => type === "agent_end").length < 2) await next(h, "display_state_changed");
  assert.deepEqual(
    texts(h.seen).filter((text) => text.startsWith("user")),
    ["user: one", "user: two"],
  );
  await assert.rejects(h.removeInput({ inputId: edited.inputId }), { code: "NOT_PENDING" });
});

test("an input with an id that was accepted before does nothing, and gives the same result", async () => {
  const model = script(say("once"), say("twice"));
  await using h = await harness({ model });
  const first = await h.sendMessage({ content: "go", id: "order-1" });
  assert.deepEqual(await h.sendMessage({ content: "go", id: "order-1" }), first);
  assert.deepEqual(await h.post({ content: "go", id: "order-1", delivery: "send" }), { inputId: "order-1" });
  assert.equal(model.requests.length, 1);
});

test("a suspended call waits, and its turn does not end; the first answer continues it", async () => {
  await using h = await harness({
    model: script(call("ask", { question: "Which?" }), say("thanks")),
    tools: { ask: asking },
  });
  const turn = h.sendMessage({ content: "go" });
  const asked = await next(h, "tool_suspended");
  assert.deepEqual(asked.suspendPayload, { question: "Which?" });
  const { status, isRunning, pendingSuspensions } = h.getDisplayState();
  assert.deepEqual([status, isRunning, Object.keys(pendingSuspensions)], ["waiting", false, [asked.toolCallId]]);
  await h.respondToToolSuspension({ toolCallId: asked.toolCallId, resumeData: "SQLite" });
  await assert.rejects(h.respondToToolSuspension({ toolCallId: asked.toolCallId, resumeData: "no" }), {
    code: "ALREADY_ANSWERED",
  });
  assert.equal((await turn).reason, "complete");
  assert.deepEqual(results(h.seen), [{ content: "answer: SQLite", isError: false }]);
  await assert.rejects(h.respondToToolSuspension({ toolCallId: asked.toolCallId, resumeData: "no" }), {
    code: "ALREADY_ANSWERED",
  });
  await assert.rejects(h.respondToToolSuspension({ resumeData: "no" }), { code: "NOT_PENDING" });
});

test("of two questions in one step each can be answered, in any order, while a sibling still runs", async () => {
  const { gate, started, open } = gated();
  const model = script(
    call(["ask", { question: "A?" }, "a"], ["gate", {}, "g"], ["ask", { question: "B?" }, "b"]),
    say("thanks"),
  );
  await using h = await harness({ model, tools: { ask: asking, gate } });
  const turn = h.sendMessage({ content: "go" });
  await started;
  while (Object.keys(h.getDisplayState().pendingSuspensions).length < 2) await next(h, "display_state_changed");
  const ended = next(h, "tool_end");
  await h.respondToToolSuspension({ toolCallId: "b", resumeData: "2" });
  await ended;
  open();
  while (h.getDisplayState().status !== "waiting") await next(h, "display_state_changed");
  await h.respondToToolSuspension({ resumeData: "1" });
  assert.equal((await turn).reason, "complete");
  const prompt = model.requests.at(-1)!.prompt.at(-1)!;
  assert.deepEqual(
    prompt.role === "tool" &&
      prompt.content.map((part) => part.type === "tool-result" && part.output.type === "text" && part.output.value),
    ["answer: 1", "through", "answer: 2"],
  );
});

test("a subscriber that throws affects neither the turn nor other subscribers", async () => {
  await using h = await harness({ model: script(say("fine")) });
  h.subscribe(() => {
    throw new Error("bad listener");
  });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  const isReported = h.seen.some((event) => event.type === "info" && event.message.includes("bad listener"));
  assert.ok(isReported);
});

test("empty content is refused with an error that says what to do", async () => {
  await using h = await harness({ model: script(say("x")) });
  await assert.rejects(h.sendMessage({ content: "  " }), {
    code: "INVALID_INPUT",
    message: "content is empty: give a text, or attach a file.",
  });
});
