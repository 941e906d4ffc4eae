import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf } from "@cinch/core";
import { call, hang, say, script, scriptedBy, type ScriptedModel, type Step } from "@cinch/testkit";
import { heldBack, outcomesOf, sessionIn, toolNamesIn } from "./requests.ts";

test("in a fork that may not delegate, task stays listed and refuses", async () => {
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Split it")) return call("task", { agent: "worker", prompt: "Work" }, "below");
    return prompt.at(-1)?.role === "user" ? call("task", { agent: "fork", prompt: "Split it" }, "top") : say("Done.");
  });
  const worker = script(say("never"));
  const subagents = [new Agent({ name: "fork", forked: true }), new Agent({ name: "worker", model: worker })];
  const h = new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents }), storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const session = await h.createSession({ threadId: child!.id });
  assert.deepEqual(outcomesOf(session.getDisplayState()).at(-1), {
    text: "Not started: subagents can't delegate any further here. Do the task yourself.",
    isError: true,
  });
  assert.deepEqual([toolNamesIn(model, 1), worker.requests.length], [toolNamesIn(model, 0), 0]);
  await h.close();
});

/** A session is started, and its id is then used in one answer after another. */
function inSession(steps: ((id: string) => Step)[], researcher: ScriptedModel, stuck: Step = hang("…")) {
  const model = scriptedBy(({ prompt }) => {
    const step = steps[prompt.filter(({ role }) => role === "assistant").length];
    return step?.(sessionIn(JSON.stringify(prompt))) ?? say("Done.");
  });
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [
      new Agent({ name: "researcher", model: researcher, tools: {} }),
      new Agent({ name: "stuck", model: script(stuck), tools: {} }),
    ],
    subagentSessions: true,
    subagentBackground: { maxConcurrent: 1, wake: false },
  });
  return new Harness({ id: "t", agent, storage: memoryStore() });
}

const task = (session: object, more: object = {}) =>
  call("task", { agent: "researcher", prompt: "More", session, ...more });

test("a session in which a person works can't be resumed by its parent", async () => {
  const slow = heldBack();
  const researcher = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt).includes("person") ? slow.step : say("Found."),
  );
  const h = inSession(
    [() => task({ mode: "new" }), () => say("One."), (id) => task({ mode: "resume", id })],
    researcher,
  );
  await h.sendMessage({ content: "go" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const session = await h.createSession({ threadId: child!.id });
  const talk = session.sendMessage({ content: "A person asks" });
  await slow.asked;
  await h.sendMessage({ content: "go on" });
  assert.deepEqual(outcomesOf(h.getDisplayState()).at(-1), {
    text: `Session "${child!.id}" is running. Wait for its end first.`,
    isError: true,
  });
  slow.open();
  assert.equal((await talk).reason, "complete");
  await h.close();
});

test("a session that a queued run is about to resume can't be resumed or forked", async () => {
  const h = inSession(
    [
      () => task({ mode: "new" }),
      () => call("task", { agent: "stuck", prompt: "Block", background: true }),
      (id) => task({ mode: "resume", id }, { background: true }),
      (id) => task({ mode: "resume", id }),
      (id) => task({ mode: "fork", id }),
    ],
    script(say("Found.")),
  );
  await h.sendMessage({ content: "go" });
  const [, , , ...refused] = outcomesOf(h.getDisplayState());
  assert.deepEqual(
    refused.map(({ text, isError }) => [isError, /is running/.test(text)]),
    [
      [true, true],
      [true, true],
    ],
  );
  await h.abort();
  await h.close();
});

test("a queued run whose session a person has taken meanwhile fails, and leaves the person's turn alone", async () => {
  const [blocking, slow] = [heldBack(), heldBack(say("For the person."))];
  const researcher = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt).includes("person") ? slow.step : say("Found."),
  );
  const steps = [
    () => task({ mode: "new" }),
    () => call("task", { agent: "stuck", prompt: "Block", background: true }),
    (id: string) => task({ mode: "resume", id }, { background: true }),
    () => say("Queued."),
    () => call("agent_await", { ids: ["bg-2"], mode: "allSettled" }),
  ];
  const h = inSession(steps, researcher, blocking.step);
  await h.sendMessage({ content: "go" });
  const id = sessionIn(outcomesOf(h.getDisplayState())[0]!.text);
  const session = await h.createSession({ threadId: id });
  const talk = session.sendMessage({ content: "A person asks" });
  await slow.asked;
  const turn = h.sendMessage({ content: "wait" });
  blocking.open();
  await turn;
  assert.match(outcomesOf(h.getDisplayState()).at(-1)!.text, /^bg-2 \(researcher\): failed\n[^]*its session is busy/);
  slow.open();
  assert.equal(textOf((await talk).message!.content), "For the person.");
  assert.equal(researcher.requests.length, 2);
  await h.close();
});
