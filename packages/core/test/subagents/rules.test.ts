import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, say, script, scriptedBy } from "@cinch/testkit";
import { noting } from "../support.ts";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

const worker = (runs: unknown[]) => {
  const model = script(call("note", { what: "it" }), say("Not noted."));
  return new Agent({ name: "worker", model, tools: { note: noting(runs).note } });
};

test("a rule of the top-level agent holds for the subagents of a fork", async () => {
  const runs: unknown[] = [];
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Split it")) return call("task", { agent: "worker", prompt: "Note it" }, "below");
    return last.includes("task_result") ? say("Done.") : call("task", { agent: "fork", prompt: "Split it" }, "top");
  });
  const agent = new Agent({
    name: "dev",
    model,
    subagents: [new Agent({ name: "fork", forked: true }), worker(runs)],
    maxSubagentDepth: 2,
    permissions: [{ toolName: "note", policy: "deny" }],
  });
  const h = new Harness({
    id: "t",
    agent,
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual(runs, []);
  await h.close();
});

test("the rules of a subagent allow nothing to its fork", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Note it")) return call("note", { what: "it" }, "n");
    return last.includes("Start") ? call("task", { agent: "fork", prompt: "Note it" }, "t") : say("Done.");
  });
  const middle = new Agent({
    name: "middle",
    model,
    tools: { note },
    permissions: [{ toolName: "note", policy: "allow" }],
    subagents: [new Agent({ name: "fork", forked: true })],
  });
  const lead = script(call("task", { agent: "middle", prompt: "Start" }), say("Done."));
  const agent = new Agent({ name: "lead", model: lead, subagents: [middle], maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent, storage: memoryStore() });
  const turn = h.sendMessage({ content: "go" });
  const { status } = await h.settled();
  assert.deepEqual([status, runs], ["waiting", []]);
  await h.abort();
  await turn;
  await h.close();
});

test("a session that was started in another mode does not run with the tools of that mode", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const noter = new Agent({
    name: "noter",
    model: scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("ok") : call("note", { what: "it" }))),
    tools: { note },
  });
  const idIn = (text: string) => /session_id=\\?"(sub_\w+)\\?"/.exec(text)?.[1] ?? "";
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("first")) return call("task", { agent: "noter", prompt: "a", session: { mode: "new" } });
    if (last.includes("second"))
      return call("task", {
        agent: "noter",
        prompt: "b",
        session: { mode: "resume", id: idIn(JSON.stringify(prompt)) },
      });
    return say("Done.");
  });
  const agent = new Agent({ name: "dev", model, subagents: [noter], subagentSessions: true });
  const h = new Harness({
    id: "t",
    modes: [
      { id: "build", agent },
      { id: "plan", agent, availableTools: ["task"] },
    ],
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  await h.sendMessage({ content: "first" });
  assert.equal(runs.length, 1);
  await h.switchMode({ modeId: "plan" });
  await h.sendMessage({ content: "second" });
  assert.equal(runs.length, 1, results(h.getDisplayState().messages).join("\n"));
  await h.close();
});

test("a fork stays bound to the mode of the step that delegated, whatever mode its thread enters", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("Note it"))
      return async function* (options) {
        asked.resolve();
        await gate.promise;
        yield* call("write_todos", { todos: [] }, "w")(options) as Iterable<never>;
      };
    if (prompt.at(-1)?.role === "user" && last.includes("go"))
      return call("task", { agent: "fork", prompt: "Note it" }, "t");
    return last.includes('"w"') || last.includes("mode") ? call("note", { what: "it" }, "n") : say("Done.");
  });
  const subagents = [new Agent({ name: "fork", forked: true })];
  const agent = new Agent({ name: "dev", model, tools: { note }, subagents });
  const h = new Harness({
    id: "t",
    modes: [
      { id: "plan", agent, availableTools: ["task", "write_todos"] },
      { id: "build", agent },
    ],
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  const turn = h.sendMessage({ content: "go" });
  await asked.promise;
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const session = await h.createSession({ threadId: child!.id });
  await session.switchMode({ modeId: "build" });
  gate.resolve();
  await turn;
  const texts = results(session.getDisplayState().messages);
  assert.ok(
    texts.some((text) => text.includes('"note" is not available')),
    texts.join("\n"),
  );
  assert.deepEqual(runs, []);
  await h.close();
});

/** Calls back when a call of a tool is recorded, before its process gets to know that it is. */
class RecordingStore extends MemoryStore {
  recorded: (() => Promise<void>) | undefined;

  override async append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    const result = await super.append(...args);
    const { recorded } = this;
    if (!recorded || !args[1].some((event) => event.type === "tool_start" && event.toolName === "note")) return result;
    this.recorded = undefined;
    await recorded();
    return result;
  }
}

test("a rule that another process sets between the record of a subagent's call and its effect denies it", async () => {
  const data = new MemoryData();
  const runs: unknown[] = [];
  const make = (storage: MemoryStore) => {
    const model = script(call("task", { agent: "worker", prompt: "Note it" }), say("Done."));
    const agent = new Agent({ name: "dev", model, subagents: [worker(runs)] });
    return new Harness({ id: "t", agent, storage, permissions: [{ toolName: "note", policy: "allow" }] });
  };
  const storage = new RecordingStore(data);
  const h = make(storage);
  await h.createThread();
  const other = make(new MemoryStore(data));
  // It opens the thread only now, so that it does not drive the subagent itself.
  storage.recorded = async () => {
    const session = await other.createSession({ threadId: h.getCurrentThreadId()! });
    await session.setPermissionForTool({ toolName: "note", policy: "deny" });
  };
  assert.equal((await h.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual([storage.recorded, runs], [undefined, []]);
  await other.close();
  await h.close();
});
