import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type HarnessEvent, type Session } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { call, say, script } from "@cinch/testkit";
import { noting } from "../support.ts";

function make(data: MemoryData): Harness {
  const { note } = noting();
  const inner = new Agent({ name: "inner", model: script(call("note", { what: "x" }), say("ok")), tools: { note } });
  const outer = new Agent({
    name: "outer",
    model: script(call("task", { agent: "inner", prompt: "i" }), say("ok")),
    tools: {},
    subagents: [inner],
  });
  const model = script(call("task", { agent: "outer", prompt: "o" }), say("done"));
  const agent = new Agent({ name: "dev", model, subagents: [outer], maxSubagentDepth: 2 });
  return new Harness({ id: "t", agent, storage: memoryStore(data) });
}

/** The approvals that a subscription learns of, by the names of the agents that ask. */
function pendingIn(events: readonly HarnessEvent[]): string[] {
  const states = events.flatMap((event) => {
    const inner = (event.type === "subagent_event" ? event.event : event) as HarnessEvent;
    return inner.type === "resync" ? inner.displayState : [];
  });
  const subagents = states.flatMap(({ activeSubagents }) => Object.values(activeSubagents));
  const pending = [...states, ...subagents].flatMap(({ pendingApprovals }) => Object.values(pendingApprovals));
  return [...new Set(pending.map(({ path }) => path.join(" > ")))];
}

/** Settles when the subscription has learned what is pending. */
async function learned(events: readonly HarnessEvent[]): Promise<string[]> {
  while (pendingIn(events).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return pendingIn(events);
}

function record(from: Pick<Session, "subscribe">): HarnessEvent[] {
  const events: HarnessEvent[] = [];
  from.subscribe((event) => events.push(event));
  // The listener is not called before its subscriber has the function that unsubscribes.
  assert.deepEqual(events, []);
  return events;
}

test("a subscription without `since` begins with what is pending in descendants, also in another process", async () => {
  const data = new MemoryData();
  const h = make(data);
  h.sendMessage({ content: "go" }).catch(() => undefined);
  assert.equal((await h.settled()).status, "waiting");
  assert.deepEqual(await learned(record(h)), ["outer > inner"]);

  const other = make(data);
  const session = await other.createSession({ threadId: h.getCurrentThreadId()! });
  assert.deepEqual(await learned(record(session)), ["outer > inner"]);
  assert.equal((await session.settled()).status, "waiting");
  assert.deepEqual(await learned(record(session)), ["outer > inner"]);
  await other.close();
  await h.close();
});

test("what is pending in descendants comes before everything that happens after the subscription", async () => {
  const h = make(new MemoryData());
  const turn = h.sendMessage({ content: "go" });
  await h.settled();
  const events = record(h);
  await h.respondToToolApproval({ decision: "approve" });
  await turn;
  const types = events.map((event) =>
    event.type === "subagent_event" ? (event.event as HarnessEvent).type : event.type,
  );
  assert.equal(types[0], "resync");
  assert.equal(types.indexOf("tool_approval_resolved") > 0, true);
  await h.close();
});

test("after a restart, a question of a subagent is shown with the path of the subagent", async () => {
  const data = new MemoryData();
  const asks = () => {
    const inner = new Agent({
      name: "inner",
      model: script(call("ask_user", { question: "Which?" }), say("ok")),
      tools: {},
    });
    const outer = new Agent({
      name: "outer",
      model: script(call("task", { agent: "inner", prompt: "i" }), say("ok")),
      tools: {},
      subagents: [inner],
    });
    const model = script(call("task", { agent: "outer", prompt: "o" }), say("done"));
    const agent = new Agent({ name: "dev", model, subagents: [outer], maxSubagentDepth: 2 });
    return new Harness({ id: "t", agent, storage: memoryStore(data) });
  };
  const first = asks();
  first.sendMessage({ content: "go" }).catch(() => undefined);
  await first.settled();
  const before = first.getDisplayState().pendingSuspensions;
  await first.close();

  const second = asks();
  await second.selectOrCreateThread();
  await second.settled();
  const { pendingSuspensions } = second.getDisplayState();
  assert.deepEqual(
    Object.values(pendingSuspensions).map(({ path }) => path),
    [["outer", "inner"]],
  );
  assert.deepEqual(pendingSuspensions, before);
  await second.close();
});
