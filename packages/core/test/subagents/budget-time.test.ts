import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, type ToolSet } from "@cinch/core";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { gated, next, permissions } from "../support.ts";
import * as z from "zod";
import { outcomesOf } from "./requests.ts";

/** A clock that only the test moves; its timers fire soon. */
function heldClock() {
  const clock = {
    ms: 0,
    now: () => clock.ms,
    after: (ms: number, callback: () => void) => {
      const timer = setTimeout(callback, Math.min(ms, 5));
      return () => clearTimeout(timer);
    },
  };
  return clock;
}

for (const { thinks, works, reason } of [
  { thinks: 1_000_000, works: 200, reason: "complete" },
  { thinks: 0, works: 600, reason: "budget" },
])
  test(`a turn whose subagent waits ${thinks} ms for a person and works ${works} ms a step ends with ${reason} at a wallMs of 1000`, async () => {
    const clock = heldClock();
    const asks = scriptedBy(({ prompt }) => {
      clock.ms += works;
      return prompt.at(-1)?.role === "tool" ? say("Done.") : call("ask_user", { question: "Well?" });
    });
    const delegates = scriptedBy(({ prompt }) =>
      prompt.at(-1)?.role === "tool" ? say("Done.") : call("task", { agent: "asks", prompt: "go" }),
    );
    const agent = new Agent({ name: "top", model: delegates, subagents: [new Agent({ name: "asks", model: asks })] });
    const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
    const turn = h.sendMessage({ content: "go" });
    assert.equal((await h.settled()).status, "waiting");
    clock.ms += thinks;
    await h.respondToToolSuspension({ resumeData: "yes" });
    const { reason: ended } = await turn;
    assert.equal(ended, reason);
    await h.close();
  });

test("the time in which two subagents work side by side counts once for the turn above them", async () => {
  const clock = heldClock();
  const { gate, started, open } = gated();
  const works = defineTool({
    description: "Works",
    input: z.object({}),
    execute: async () => {
      await started;
      clock.ms = 600;
      return "worked";
    },
  });
  const withTool = (name: string, tool: string, tools: ToolSet) =>
    new Agent({ name, model: script(call(tool, {}), say(`${name} is done`)), tools });
  const model = script(
    call(["task", { agent: "quick", prompt: "a" }, "a"], ["task", { agent: "slow", prompt: "b" }, "b"]),
    say("Done."),
  );
  const subagents = [withTool("quick", "works", { works }), withTool("slow", "gate", { gate })];
  const agent = new Agent({ name: "top", model, subagents });
  const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
  h.subscribe((event) => {
    if (event.type !== "tool_end" || event.toolCallId !== "a") return;
    clock.ms = 700;
    open();
  });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(
    outcomesOf(h.getDisplayState()).filter(({ text }) => text.includes("budget")),
    [],
  );
  await h.close();
});

for (const asksIn of [
  "the same turn",
  "a subagent of the same turn",
  "a subagent with the same call id of the same turn",
  "the next turn",
  "a subagent of the next turn",
])
  test(`what a background subagent works while a person is asked in ${asksIn} is no work of that turn`, async () => {
    const clock = heldClock();
    const { gate, started, open } = gated();
    const id = asksIn.includes("call id") ? ["call_0"] : [];
    const begin = call("task", { agent: "aside", prompt: "a", background: true }, ...id);
    const question = call("ask_user", { question: "Well?" });
    const ask = asksIn.startsWith("a subagent") ? call("task", { agent: "asks", prompt: "a" }, ...id) : question;
    const isSame = asksIn.endsWith("the same turn");
    const agent = new Agent({
      name: "top",
      model: isSame ? script(begin, ask, say("Done.")) : script(begin, say("Begun."), ask, say("Done.")),
      subagents: [
        new Agent({ name: "aside", model: script(call("gate", {}), say("done")), tools: { gate } }),
        new Agent({ name: "asks", model: script(question, say("Asked.")), tools: {} }),
      ],
      subagentBackground: { wake: false },
    });
    const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
    const ended = next(h, "subagent_end");
    if (!isSame) assert.equal((await h.sendMessage({ content: "begin" })).reason, "complete");
    const turn = h.sendMessage({ content: "go" });
    await started;
    const hasAsked = () => Object.keys(h.getDisplayState().pendingSuspensions).length === 1;
    while (!hasAsked()) await new Promise((resolve) => setTimeout(resolve, 5));
    clock.ms = 900;
    open();
    await ended;
    clock.ms = 1_000_000;
    await h.respondToToolSuspension({ resumeData: "yes" });
    clock.ms += 500;
    assert.equal((await turn).reason, "complete");
    await h.close();
  });

test("a subagent in the background is not ended by what it works while the turn above it asks a person", async () => {
  const clock = heldClock();
  const asked = Promise.withResolvers<void>();
  const works = defineTool({
    description: "Works",
    effect: "pure",
    input: z.object({}),
    execute: async () => {
      await asked.promise;
      clock.ms += 300;
      return "worked";
    },
  });
  const thinks = scriptedBy(({ prompt }) => {
    if (prompt.at(-1)?.role !== "user") return call("ask_user", { question: "Well?" });
    clock.ms += 600;
    return call("task", { agent: "aside", prompt: "a", background: true });
  });
  const aside = script(call("works", {}), call("works", {}), say("done"));
  const agent = new Agent({
    name: "top",
    model: thinks,
    subagents: [new Agent({ name: "aside", model: aside, tools: { works } })],
    subagentBackground: { wake: false },
  });
  const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
  const ended = next(h, "subagent_end");
  const asking = next(h, "tool_suspended");
  const turn = h.sendMessage({ content: "go" });
  await asking;
  asked.resolve();
  assert.equal((await ended).status, "complete");
  await h.abort();
  await turn;
  await h.close();
});

test("what a background subagent works while the turn awaits it is work of that turn", async () => {
  const clock = heldClock();
  const works = defineTool({
    description: "Works",
    effect: "pure",
    input: z.object({}),
    execute: () => {
      clock.ms += 1_200;
      return "worked";
    },
  });
  const agent = new Agent({
    name: "top",
    model: script(
      call("task", { agent: "aside", prompt: "a", background: true }),
      call("agent_await", { ids: ["bg-1"], mode: "all" }),
      say("never"),
    ),
    subagents: [new Agent({ name: "aside", model: script(call("works", {}), say("done")), tools: { works } })],
    subagentBackground: { wake: false },
  });
  const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "budget");
  await h.close();
});

for (const { does, reason } of [
  { does: "works", reason: "budget" },
  { does: "has worked, and asks a person", reason: "complete" },
])
  test(`a turn that awaits a background subagent again and again, which ${does}, ends with ${reason} at its wallMs`, async () => {
    const clock = heldClock();
    const begun = Promise.withResolvers<void>();
    const works = defineTool({
      description: "Works",
      effect: "pure",
      input: z.object({}),
      execute: async (_, { signal, suspend }) => {
        clock.ms += 300;
        if (reason === "complete") suspend({ question: "Well?" });
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return "aborted";
      },
    });
    const wait = () => call("agent_await", { ids: ["bg-1"], mode: "all", timeout_ms: 500 });
    const agent = new Agent({
      name: "top",
      model: script(
        call("task", { agent: "aside", prompt: "a", background: true }),
        wait(),
        wait(),
        wait(),
        wait(),
        say("Done."),
      ),
      subagents: [new Agent({ name: "aside", model: script(call("works", {})), tools: { works } })],
      subagentBackground: { wake: false },
    });
    const h = new Harness({ id: "test", agent, clock, permissions, budget: { wallMs: 1_000 } });
    h.subscribe((event) => {
      if (event.type === "subagent_event" && event.status === "waiting") begun.resolve();
      if (event.type === "tool_suspended") begun.promise.then(() => (clock.ms += 600)).catch(assert.fail);
    });
    assert.equal((await h.sendMessage({ content: "go" })).reason, reason);
    await h.abort();
    await h.close();
  });
