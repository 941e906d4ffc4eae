import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpAgent } from "@ag-ui/client";
import type { BaseEvent, Interrupt, RunFinishedEvent } from "@ag-ui/core";
import { Agent, defineTool } from "@cinch/core";
import { call, fail, finish, hang, inTurn, say, script, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";
import { authenticate, serving } from "../../serving.ts";

const write = defineTool({
  description: "Writes",
  category: "edit",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `wrote ${path}`,
});

/** A client of AG-UI, as a page would use it. */
function agentAt(url: string, { threadId = "t", token }: { threadId?: string; token?: string } = {}) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const agent = new HttpAgent({ url: `${url}/v1/agui`, threadId, headers });
  const events: BaseEvent[] = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) });
  let sent = 0;
  const send = async (content: string) => {
    agent.addMessage({ id: `${threadId}-u${++sent}`, role: "user", content });
    await agent.runAgent();
  };
  const outcome = () =>
    (events.findLast(({ type }) => type === "RUN_FINISHED") as RunFinishedEvent | undefined)?.outcome;
  return { agent, events, say: send, outcome };
}

const texts = (agent: HttpAgent): string[] =>
  agent.messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ content }) => String(content ?? ""));

const interruptsOf = (agent: HttpAgent): Interrupt[] => agent.pendingInterrupts;

test("HttpAgent: a whole turn with an approval and a question, each resumed in a new run", async () => {
  const question = { question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] };
  await using at = await serving({
    model: script(
      say("Hello"),
      call("write", { path: "/a" }, "w1"),
      call("ask_user", question, "q1"),
      say("All done."),
    ),
    tools: { write },
  });
  const { agent, say: send, outcome } = agentAt(at.url);
  await send("hi");
  assert.deepEqual(texts(agent), ["hi", "Hello"]);
  assert.deepEqual(outcome(), { type: "success" });

  await send("write it");
  const [approval] = interruptsOf(agent);
  assert.equal(approval!.reason, "tool_approval");
  assert.deepEqual(approval!.metadata!["args"], { path: "/a" });
  await agent.runAgent({
    resume: [{ interruptId: approval!.id, status: "resolved", payload: { decision: "approve" } }],
  });
  assert.ok(agent.messages.some(({ role, content }) => role === "tool" && content === "wrote /a"));

  const [asked] = interruptsOf(agent);
  assert.equal(asked!.message, "Which colour?");
  assert.deepEqual(asked!.responseSchema, { type: "string" });
  await agent.runAgent({ resume: [{ interruptId: asked!.id, status: "resolved", payload: "blue" }] });
  assert.deepEqual(interruptsOf(agent), []);
  assert.equal(texts(agent).at(-1), "All done.");
  assert.deepEqual(outcome(), { type: "success" });
  assert.equal((agent.state as { modeId: string }).modeId, "default");
});

test("HttpAgent: a page that is reloaded gets the conversation, and the turn that is under way", async () => {
  const more = Promise.withResolvers<void>();
  const slow: Step = async function* () {
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: "The first half, " };
    await more.promise;
    yield { type: "text-delta", id: "t", delta: "and the second." };
    yield { type: "text-end", id: "t" };
    yield finish("stop");
  };
  await using at = await serving({ model: script(say("Hello"), slow) });
  const first = agentAt(at.url);
  await first.say("hi");
  const sent = first.say("go on");
  while (texts(first.agent).at(-1) !== "The first half, ") await new Promise((resolve) => setTimeout(resolve, 5));
  const second = agentAt(at.url);
  const watched = second.agent.runAgent();
  while (texts(second.agent).at(-1) !== "The first half, ") await new Promise((resolve) => setTimeout(resolve, 5));
  more.resolve();
  await Promise.all([sent, watched]);
  assert.deepEqual(texts(second.agent), ["hi", "Hello", "go on", "The first half, and the second."]);
  assert.deepEqual(
    second.agent.messages.map(({ id, role }) => [id, role]),
    first.agent.messages.map(({ id, role }) => [id, role]),
  );
  const third = agentAt(at.url);
  await third.agent.runAgent();
  assert.deepEqual(texts(third.agent), texts(second.agent));
});

test("HttpAgent: two clients answer the same approval, and both get the end of the turn", async () => {
  await using at = await serving({ model: script(call("write", { path: "/a" }), say("Done.")), tools: { write } });
  const one = agentAt(at.url);
  await one.say("go");
  const two = agentAt(at.url);
  await two.agent.runAgent();
  const [approval] = interruptsOf(two.agent);
  assert.equal(approval!.id, interruptsOf(one.agent)[0]!.id);
  await one.agent.runAgent({ resume: [{ interruptId: approval!.id, status: "resolved", payload: true }] });
  await two.agent.runAgent({ resume: [{ interruptId: approval!.id, status: "cancelled" }] });
  assert.deepEqual([texts(one.agent).at(-1), texts(two.agent).at(-1)], ["Done.", "Done."]);
});

test("HttpAgent: if one of several answers can't be understood, none is given", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const two = call(["write", { path: "/a" }, "w1"], ["write", { path: "/b" }, "w2"]);
  await using at = await serving({ model: script(two, say("Done.")), tools: { write } });
  const { agent, say: send } = agentAt(at.url);
  await send("go");
  const [a, b] = interruptsOf(agent).map(({ id }) => id);
  const resolved = (interruptId: string, payload: unknown) => ({ interruptId, status: "resolved" as const, payload });
  await assert.rejects(
    agent.runAgent({ resume: [resolved(a!, true), resolved(b!, { yes: 1 })] }),
    /must have a decision/,
  );
  assert.equal((await at.at.json<unknown[]>("/v1/pending")).length, 2);
  await agent.runAgent({ resume: [resolved(a!, true), resolved(b!, true)] });
  assert.equal(texts(agent).at(-1), "Done.");
});

test("HttpAgent: if the caller may not give one of several answers, none is given", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const two = call(["write", { path: "/a" }, "w1"], ["write", { path: "/b" }, "w2"]);
  let isLenient = false;
  const mayAnswer = ({ approval }: { approval: { toolCallId: string } }) => isLenient || approval.toolCallId === "w1";
  await using at = await serving({ model: script(two, say("Done.")), tools: { write }, mayAnswer });
  const { agent, say: send } = agentAt(at.url);
  await send("go");
  const resume = interruptsOf(agent).map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: true }));
  await assert.rejects(agent.runAgent({ resume }), /may not answer/);
  assert.equal((await at.at.json<unknown[]>("/v1/pending")).length, 2);
  isLenient = true;
  await agent.runAgent({ resume });
  assert.equal(texts(agent).at(-1), "Done.");
});

test("HttpAgent: an edited call runs with the edited arguments, and a cancelled question ends the turn", async () => {
  await using at = await serving({
    model: script(call("write", { path: "/a" }, "w1"), call("ask_user", { question: "Why?" }, "q1"), say("never")),
    tools: { write },
  });
  const { agent, say: send, outcome } = agentAt(at.url);
  await send("go");
  const payload = { decision: "edit", args: { path: "/b" } };
  await agent.runAgent({ resume: [{ interruptId: interruptsOf(agent)[0]!.id, status: "resolved", payload }] });
  assert.ok(agent.messages.some(({ role, content }) => role === "tool" && String(content).includes("wrote /b")));
  await agent.runAgent({ resume: [{ interruptId: interruptsOf(agent)[0]!.id, status: "cancelled" }] });
  assert.deepEqual(outcome(), { type: "cancelled" });
});

test("HttpAgent: an approval of a subagent is an interrupt of the subagent", async () => {
  const helper = new Agent({
    name: "helper",
    description: "Helps",
    model: script(call("write", { path: "/a" }, "w1"), say("Written.")),
    tools: { write },
  });
  const model = script(call("task", { agent: "helper", prompt: "Write a" }, "t1"), say("The helper did it."));
  await using at = await serving({
    model,
    harness: { agent: new Agent({ name: "tester", model, subagents: [helper] }) },
  });
  const { agent, say: send, events } = agentAt(at.url);
  await send("go");
  const [approval] = interruptsOf(agent);
  const started = events.find(({ type }) => type === "SUBAGENT_STARTED") as unknown as { subagentRunId: string };
  assert.equal(approval!.subagentRunId, started.subagentRunId);
  await agent.runAgent({ resume: [{ interruptId: approval!.id, status: "resolved", payload: { approved: true } }] });
  assert.equal(texts(agent).at(-1), "The helper did it.");
  assert.ok(events.some(({ type }) => type === "SUBAGENT_FINISHED"));
});

test("HttpAgent: an answer that the model begins again is shown once", async () => {
  const broken = Object.assign(new Error("overloaded"), { statusCode: 529, isRetryable: true });
  const breaks: Step = async function* () {
    yield { type: "text-start", id: "t" };
    yield { type: "text-delta", id: "t", delta: "Wrong " };
    throw broken;
  };
  await using at = await serving({ model: script(say("Hello"), inTurn(breaks, say("Right."))) });
  const { agent, say: send } = agentAt(at.url);
  await send("hi");
  await send("go");
  assert.deepEqual(texts(agent), ["hi", "Hello", "go", "Right."]);
});

test("HttpAgent: a failed turn is a RUN_ERROR, and an aborted one is cancelled", async () => {
  let asked = 0;
  const failure = Object.assign(new Error("No such key"), { statusCode: 401, isRetryable: false });
  await using at = await serving({ model: scriptedBy(() => (asked++ === 0 ? fail(failure) : hang("Thinking"))) });
  const { say: send, events, outcome, agent } = agentAt(at.url);
  await send("go").catch(() => undefined);
  const error = events.find(({ type }) => type === "RUN_ERROR") as unknown as { message: string };
  assert.match(error.message, /No such key/);
  const sent = send("again");
  while (texts(agent).at(-1) !== "Thinking") await new Promise((resolve) => setTimeout(resolve, 5));
  await at.at.post("/v1/threads/t/abort");
  await sent;
  assert.deepEqual(outcome(), { type: "cancelled" });
});

test("HttpAgent: a caller without the role can't approve, and another resource's thread is refused", async (t) => {
  // The client prints what it rejects with.
  t.mock.method(console, "error", () => undefined);
  await using at = await serving({ model: script(call("write", { path: "/a" })), tools: { write }, authenticate });
  const ann = agentAt(at.url, { token: "ann-token" });
  await ann.say("go");
  const bob = agentAt(at.url, { token: "bob-token" });
  await assert.rejects(bob.say("me too"), /403/);
  const cat = agentAt(at.url, { token: "cat-token" });
  await assert.rejects(cat.say("mine"), /THREAD_EXISTS/);
});
