import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, textOf, type HarnessMessage } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { call, hang, say, script, scriptedBy, type Step } from "@cinch/testkit";
import { gated, noting, permissions } from "../support.ts";

const results = (messages: readonly HarnessMessage[]): string[] =>
  messages.flatMap(({ outcomes }) => Object.values(outcomes).map(({ result }) => textOf(result.content)));

const notes = (messages: readonly HarnessMessage[]): string[] =>
  messages.filter(({ role }) => role === "note").map(({ content }) => textOf(content));

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("all of many subagents that ask are shown and can be answered", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({ name: "worker", model: script(call("note", { what: "x" }), say("ok")), tools: { note } });
  const model = script(
    call(...Array.from({ length: 60 }, (_, n) => ["task", { agent: "worker", prompt: `${n}` }] as [string, unknown])),
    say("done"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [worker] }),
    storage: memoryStore(),
  });
  const turn = h.sendMessage({ content: "go" });
  const { pending } = await h.settled();
  assert.equal(pending.length, 60);
  for (const { threadId, toolCallId } of pending)
    await h.respondToToolApproval({ threadId, toolCallId, decision: "approve" });
  await turn;
  assert.equal(runs.length, 60);
  await h.close();
});

test('with onAsk: "decline", the question of a subagent that an earlier process asked is declined', async () => {
  const data = new MemoryData();
  const make = (storage: MemoryStore, onAsk: "wait" | "decline") => {
    const { note } = noting([]);
    const worker = new Agent({
      name: "worker",
      model: script(call("note", { what: "x" }), say("ok")),
      tools: { note },
    });
    const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
    return new Harness({ id: "t", agent: new Agent({ name: "dev", model, subagents: [worker] }), storage, onAsk });
  };
  const s1 = new MemoryStore(data);
  const h1 = make(s1, "wait");
  h1.sendMessage({ content: "go" }).catch(() => undefined);
  await h1.settled();
  const threadId = h1.getCurrentThreadId()!;
  s1.die();
  const h = make(new MemoryStore(data), "decline");
  const session = await h.createSession({ threadId });
  assert.equal((await session.settled()).status, "idle");
  await h.close();
  await h1.close().catch(() => undefined);
});

test("a rewind that cuts the end of a run counts its usage once", async () => {
  const worker = new Agent({ name: "worker", model: script(say("one")), tools: {} });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const storage = memoryStore();
  const h = new Harness({ id: "t", agent: new Agent({ name: "lead", model, subagents: [worker] }), storage });
  await h.sendMessage({ content: "go" });
  const start = (await storage.read(h.getCurrentThreadId()!)).find(({ type }) => type === "subagent_start")!;
  const before = h.getTokenUsage().inputTokens;
  await h.rewind({ toSeq: start.seq });
  await h.settled();
  await wait(50);
  assert.equal(h.getTokenUsage().inputTokens, before);
  await h.close();
});

test("a decline without a message ends the subagent, and its parent continues", async () => {
  const { note } = noting([]);
  const worker = new Agent({ name: "worker", model: script(call("note", { what: "x" })), tools: { note } });
  const model = script(call("task", { agent: "worker", prompt: "a" }), say("done"));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [worker] }),
    storage: memoryStore(),
  });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolApproval({ decision: "decline" });
  assert.equal((await turn).reason, "complete");
  assert.match(results(h.getDisplayState().messages)[0]!, /declined/);
  await h.close();
});

test("always_allow answers the other subagents that wait for the same", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const worker = new Agent({ name: "worker", model: script(call("note", { what: "x" }), say("ok")), tools: { note } });
  const model = script(
    call(["task", { agent: "worker", prompt: "a" }], ["task", { agent: "worker", prompt: "b" }]),
    say("done"),
  );
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [worker] }),
    storage: memoryStore(),
  });
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  await h.respondToToolApproval({ decision: "always_allow_tool" });
  assert.ok(await turn);
  await h.close();
});

test("a fork of a session keeps the rules of its thread", async () => {
  const runs: unknown[] = [];
  const { note } = noting(runs);
  const idIn = (text: string) => /session_id=\\?"(sub_\w+)\\?"/.exec(text)?.[1] ?? "";
  const worker = new Agent({
    name: "worker",
    model: scriptedBy(({ prompt }) =>
      JSON.stringify(prompt.at(-1)).includes("note it") ? call("note", { what: "x" }) : say("ok"),
    ),
    tools: { note },
  });
  const model = scriptedBy(({ prompt }) => {
    const last = JSON.stringify(prompt.at(-1));
    if (last.includes("first")) return call("task", { agent: "worker", prompt: "hello", session: { mode: "new" } });
    if (last.includes("second"))
      return call("task", {
        agent: "worker",
        prompt: "note it",
        session: { mode: "fork", id: idIn(JSON.stringify(prompt)) },
      });
    return say("done");
  });
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [worker], subagentSessions: true }),
    storage: memoryStore(),
    permissions: [{ toolName: "note", policy: "allow" }],
  });
  await h.sendMessage({ content: "first" });
  const [child] = await h.listThreads({ parentId: h.getCurrentThreadId()! });
  const s = await h.createSession({ threadId: child!.id });
  await s.setPermissionForTool({ toolName: "note", policy: "deny" });
  await h.sendMessage({ content: "second" });
  assert.deepEqual(runs, []);
  await h.close();
});

test("a long report in a note is cut and closed", async () => {
  const long = new Agent({ name: "long", model: script(say("x".repeat(20_000), { size: 5000 })), tools: {} });
  const model = script(call("task", { agent: "long", prompt: "1", background: true }), say("ok"), say("seen"));
  const h = new Harness({
    id: "t",
    agent: new Agent({ name: "dev", model, subagents: [long], subagentBackground: true }),
    storage: memoryStore(),
  });
  await h.sendMessage({ content: "go" });
  await h.settled();
  assert.match(notes(h.getDisplayState().messages)[0]!, /<\/task_result>$/);
  await h.close();
});

/** Delegates to an agent that delegates to `search`, waits at its gate, and has one more answer for each message of a person. */
function exploring(search: Agent, gate: ReturnType<typeof gated>["gate"], last: readonly Step[]) {
  const explore = new Agent({
    name: "explore",
    model: script(
      call("task", { agent: "search", prompt: "aside", background: true }),
      call("gate", {}),
      say("Explored."),
      ...last,
    ),
    tools: { gate },
    subagents: [search],
    subagentBackground: true,
  });
  const model = script(call("task", { agent: "explore", prompt: "Explore" }), say("Done."));
  const agent = new Agent({ name: "dev", model, subagents: [explore], maxSubagentDepth: 2 });
  const h = new Harness({ id: "t", agent, storage: memoryStore(), permissions });
  return { h, turn: h.sendMessage({ content: "go" }) };
}

test("a message that waits until the run of a subagent has ended is answered, also if the run left a subagent in the background", async () => {
  const { gate, started, open } = gated();
  const search = new Agent({ name: "search", model: script(hang("…")), tools: {} });
  const { h, turn } = exploring(search, gate, [say("Answered.")]);
  await started;
  const [threadId] = Object.keys(h.getDisplayState().activeSubagents);
  const session = await h.createSession({ threadId: threadId! });
  const { inputId } = await session.followUp({ content: "And?" });
  open();
  const answered = await session.resultOf({ inputId });
  assert.deepEqual([(await turn).reason, textOf(answered.message?.content ?? [])], ["complete", "Answered."]);
  await h.close();
});

test("the subagent of a person's turn goes on when what the run before it has left in the background ends", async () => {
  const { gate, started, open } = gated();
  const stubborn = gated();
  const asideEnded = Promise.withResolvers<void>();
  const found: Step = async function* (options) {
    await asideEnded.promise;
    await wait(50);
    yield* say("Found.")(options);
  };
  const searching = scriptedBy(({ prompt }) =>
    JSON.stringify(prompt.at(-1)).includes("aside") ? call("gate", {}) : found,
  );
  const search = new Agent({ name: "search", model: searching, tools: { gate: stubborn.gate } });
  const { h, turn } = exploring(search, gate, [call("task", { agent: "search", prompt: "Look" }), say("Answered.")]);
  await Promise.all([started, stubborn.started]);
  const [threadId] = Object.keys(h.getDisplayState().activeSubagents);
  const session = await h.createSession({ threadId: threadId! });
  const { inputId } = await session.followUp({ content: "And?" });
  session.subscribe((event) => {
    if (event.type === "background_settled") asideEnded.resolve();
  });
  open();
  await session.resultOf({ inputId });
  assert.match(results(session.getDisplayState().messages).at(-1)!, /Found\./);
  assert.equal((await turn).reason, "complete");
  await h.close();
});
