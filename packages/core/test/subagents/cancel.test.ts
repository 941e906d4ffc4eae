import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore, textOf, type Clock, type HarnessMessage } from "@cinch/core";
import * as z from "zod";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script, scriptedBy } from "@cinch/testkit";
import { gated, noting, permissions } from "../support.ts";
import { waitingClock } from "../../../testkit/test/waiting-clock.ts";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

const notes = (messages: readonly HarnessMessage[]): string[] =>
  messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content));

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("an abort with queued children starts none of them", async () => {
  const model0 = scriptedBy(() => hang("…"));
  const stuck = new Agent({ name: "stuck", model: model0, tools: {} });
  const model = script(
    call(...[1, 2, 3].map((n) => ["task", { agent: "stuck", prompt: `${n}`, background: true }] as [string, unknown])),
    say("Started."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: { maxConcurrent: 1 } });
  const clock = waitingClock();
  const h = new Harness({ id: "t", agent, storage: memoryStore(), clock });
  await h.sendMessage({ content: "go" });
  while (model0.requests.length === 0) await wait(5);
  const since = clock.now();
  await h.abort();
  assert.equal((await h.settled()).status, "idle");
  assert.equal(model0.requests.length, 1);
  assert.ok(clock.now() - since < 2_000);
  await h.close();
});

test("agent_cancel ends a queued run that would have resumed a session", async () => {
  const idIn = (text: string) => /session_id=\\?"(sub_\w+)\\?"/.exec(text)?.[1] ?? "";
  const m1 = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("again") ? say("ran again") : say("one"),
  );
  const worker = new Agent({ name: "worker", model: m1, tools: {} });
  const gate = Promise.withResolvers<void>();
  const slow = new Agent({
    name: "slow",
    model: script(async function* (o) {
      await gate.promise;
      yield* say("slow")(o);
    }),
    tools: {},
  });
  const model = scriptedBy(({ prompt }) => {
    const done = prompt.filter(({ role }) => role === "tool").length;
    const id = idIn(JSON.stringify(prompt));
    return (
      [
        call("task", { agent: "worker", prompt: "first", session: { mode: "new" } }),
        call("task", { agent: "slow", prompt: "s", background: true }),
        call("task", { agent: "worker", prompt: "again", session: { mode: "resume", id }, background: true }),
        call("agent_cancel", { ids: ["bg-2"] }),
      ][done] ?? say("Done.")
    );
  });
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [worker, slow],
    subagentSessions: true,
    subagentBackground: { maxConcurrent: 1 },
  });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  gate.resolve();
  await h.settled();
  assert.equal(m1.requests.length, 1);
  await h.close();
});

test("a clone gives no id of a background subagent again", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = new Agent({
    name: "slow",
    model: script(async function* (o) {
      await gate.promise;
      yield* say("slow")(o);
    }),
    tools: {},
  });
  const quick = new Agent({ name: "quick", model: script(say("quick")), tools: {} });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("go"))
      return call(
        ["task", { agent: "slow", prompt: "s", background: true }, "a"],
        ["task", { agent: "quick", prompt: "s", background: true }, "b"],
      );
    if (last.includes("again")) return call("task", { agent: "quick", prompt: "s", background: true }, "c");
    return say("ok");
  });
  const agent = new Agent({ name: "dev", model, subagents: [slow, quick], subagentBackground: { wake: false } });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await wait(100);
  await h.cloneThread({});
  await h.sendMessage({ content: "again" });
  const texts = results(h.getDisplayState().messages);
  assert.match(texts.at(-1)!, /bg-3/);
  gate.resolve();
  await h.close();
});

test("a call of task that is aborted while its catalog answers starts nothing", async () => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const m1 = scriptedBy(() => hang("…"));
  const worker = new Agent({ name: "worker", model: m1, tools: {} });
  const catalog = {
    list: async () => [{ name: "worker", description: "" }],
    resolve: async () => {
      asked.resolve();
      await gate.promise;
      return worker;
    },
  };
  const model = script(call("task", { agent: "worker", prompt: "x", background: true }), say("no"));
  const agent = new Agent({ name: "dev", model, subagents: catalog, subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const turn = h.sendMessage({ content: "go" });
  await asked.promise;
  const aborted = h.abort();
  await wait(50);
  gate.resolve();
  await aborted;
  await turn;
  await wait(100);
  assert.equal(m1.requests.length, 0);
  assert.equal(h.getDisplayState().status, "idle");
  await h.close();
});

test("the result of agent_cancel has reported the end, so there is no note", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const model = script(
    call("task", { agent: "stuck", prompt: "1", background: true }),
    call("agent_cancel", { ids: ["bg-1"] }),
    say("Stopped."),
  );
  const agent = new Agent({ name: "dev", model, subagents: [stuck], subagentBackground: true });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  await h.sendMessage({ content: "go" });
  await h.settled();
  assert.deepEqual(notes(h.getDisplayState().messages), []);
  assert.equal(model.requests.length, 3);
  await h.close();
});

test("an abort ends a subagent in each of its states", async () => {
  const { note } = noting([]);
  for (const state of ["asking", "suspended", "running", "awaiting"]) {
    const data = new MemoryData();
    const m =
      state === "asking"
        ? script(call("note", { what: "x" }))
        : state === "suspended"
          ? script(call("ask_user", { question: "x?" }))
          : script(hang("x"));
    const worker = new Agent({ name: "worker", model: m, tools: { note } });
    const model =
      state === "awaiting"
        ? script(
            call("task", { agent: "worker", prompt: "a", background: true }),
            call("agent_await", { ids: ["bg-1"], mode: "all" }),
          )
        : script(call("task", { agent: "worker", prompt: "a" }), say("no"));
    const clock = waitingClock();
    const h = new Harness({
      id: "t",
      agent: new Agent({ name: "dev", model, subagents: [worker], subagentBackground: true }),
      storage: new MemoryStore(data),
      clock,
    });
    const turn = h.sendMessage({ content: "go" });
    await wait(100);
    const since = clock.now();
    await h.abort();
    assert.equal((await turn).reason, "aborted", state);
    assert.ok(clock.now() - since < 2_000, state);
    assert.equal((await h.settled()).status, "idle", state);
    assert.deepEqual(
      (await new MemoryStore(data).threads()).filter((x) => x.active),
      [],
      state,
    );
    assert.deepEqual(Object.keys(h.getDisplayState().pendingApprovals), []);
    await h.close();
  }
});

test("a steer ends agent_await with the results so far", async () => {
  const stuck = new Agent({ name: "stuck", model: script(hang("…")), tools: {} });
  const quick = new Agent({ name: "quick", model: script(say("q")), tools: {} });
  const model = script(
    call(
      ["task", { agent: "stuck", prompt: "1", background: true }],
      ["task", { agent: "quick", prompt: "2", background: true }],
    ),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "race" }),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all" }),
    say("after"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [stuck, quick], subagentBackground: true }),
    storage: memoryStore(),
  });
  const turn = h.sendMessage({ content: "go" });
  const waitsForAll = () =>
    Object.values(h.getDisplayState().activeTools).some(
      ({ status, args }) => status === "waiting" && (args as { mode?: string }).mode === "all",
    );
  while (!waitsForAll()) await wait(5);
  await h.steer({ content: "hurry" });
  assert.equal(textOf((await turn).message!.content), "after");
  const texts = results(h.getDisplayState().messages);
  assert.match(texts[2]!, /bg-1 \(stuck\): running/);
  assert.match(texts[3]!, /ended by a new message/);
  await h.abort();
  await h.close();
});

test("agent_cancel says which subagents have stopped, had ended before, and have not stopped yet", async () => {
  // On this clock, the two seconds that agent_cancel waits are over before a tool has to stop.
  const start = Date.now();
  const clock: Clock = {
    now: () => start + (Date.now() - start) * 50,
    after(ms, callback) {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  };
  const running = Promise.withResolvers<void>();
  const deaf = defineTool({
    description: "Does not stop",
    input: z.object({}),
    execute: () => {
      running.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  const worker = new Agent({ name: "worker", model: script(call("deaf"), say("no")), tools: { deaf } });
  const quick = new Agent({ name: "quick", model: script(say("done")), tools: {} });
  const start3 = (["quick", "worker", "worker"] as const).map((agent): [string, unknown] => [
    "task",
    { agent, prompt: "x", background: true },
  ]);
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("start")) return call(...start3);
    return last.includes("stop them") ? call("agent_cancel", { ids: ["bg-1", "bg-2", "bg-3"] }) : say("ok");
  });
  const h = new Harness({
    id: "t",
    agent: new Agent({
      name: "dev",
      model,
      subagents: [worker, quick],
      subagentBackground: { maxConcurrent: 1, wake: false },
    }),
    permissions: [{ toolName: "deaf", policy: "allow" }],
    clock,
  });
  await h.sendMessage({ content: "start" });
  await running.promise;
  await h.sendMessage({ content: "stop them" });
  assert.equal(
    results(h.getDisplayState().messages).at(-1),
    [
      "bg-1 (quick): had ended before: complete.",
      "bg-2 (worker): not stopped yet. It was asked to; agent_status shows when it has ended.",
      "bg-3 (worker): stopped.",
    ].join("\n"),
  );
  await h.settled();
  await h.sendMessage({ content: "stop them" });
  assert.match(results(h.getDisplayState().messages).at(-1)!, /bg-2 \(worker\): had ended before: aborted\./);
  await h.close();
});

test("agent_cancel lets no queued subagent begin in the place of one that it stops", async () => {
  const { gate, started, open } = gated();
  const worked: string[] = [];
  const work = scriptedBy(({ prompt }) => {
    const which = /first|second|third/.exec(JSON.stringify(prompt))![0];
    worked.push(which);
    return which === "second" ? call("gate", {}) : hang("…");
  });
  const worker = new Agent({ name: "worker", model: work, tools: { gate } });
  const begin = ["first", "second", "third"].map((prompt): [string, unknown] => [
    "task",
    { agent: "worker", prompt, background: true },
  ]);
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("start")) return call(...begin);
    return last.includes("stop them") ? call("agent_cancel", { ids: ["bg-1", "bg-2", "bg-3"] }) : say("ok");
  });
  const agent = new Agent({ name: "dev", model, subagents: [worker], subagentBackground: { maxConcurrent: 2 } });
  const h = new Harness({ id: "t", agent, storage: memoryStore(), permissions });
  const ends: string[] = [];
  h.subscribe((event) => {
    if (event.type !== "subagent_end") return;
    ends.push(event.status);
    if (event.status === "aborted") open();
  });
  await h.sendMessage({ content: "start" });
  await started;
  while (worked.length < 2) await wait(5);
  await h.sendMessage({ content: "stop them" });
  assert.deepEqual(ends, ["cancelled", "aborted", "aborted"]);
  assert.deepEqual(worked.toSorted(), ["first", "second"]);
  const stopped = [1, 2, 3].map((n) => `bg-${n} (worker): stopped.`);
  assert.equal(results(h.getDisplayState().messages).at(-1), stopped.join("\n"));
  await h.close();
});
