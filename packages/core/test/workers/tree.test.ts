import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, textOf, type Harness, type HarnessConfig } from "@cinch/core";
import { call, hang, say, script } from "@cinch/testkit";
import { bestOfThree } from "../../../testkit/test/best-of-three.ts";
import { shareOf } from "../../../testkit/test/share.ts";
import { DyingStore } from "../dying-store.ts";
import { next, noting, permissions } from "../support.ts";
import { Engine } from "./engine.ts";
import { eventually, Team } from "./team.ts";

/** An agent that delegates to one that uses a tool. */
function delegating(runs: unknown[] = []): Pick<HarnessConfig, "agent" | "permissions"> {
  const { note } = noting(runs);
  const model = script(call("note", { what: "x" }), say("Found x."));
  const search = new Agent({ name: "search", model, tools: { note } });
  const asks = script(call("task", { agent: "search", prompt: "Search" }), say("All done."));
  return { agent: new Agent({ name: "dev", model: asks, subagents: [search] }), permissions };
}

/** The model of the agent is in the configuration. */
const model = script();

const answerOf = (h: Harness): string => textOf(h.getDisplayState().messages.at(-1)?.content ?? []);

test("a subagent of a thread at a front runs in workers, and its end wakes the thread that asked", async () => {
  await using team = new Team();
  const runs: unknown[] = [];
  await team.worker({ model, ...delegating(runs) });
  await team.worker({ model, ...delegating(runs) });
  const front = await team.front({ model, ...delegating() });
  assert.equal((await front.sendMessage({ content: "go" })).reason, "complete");
  assert.deepEqual([answerOf(front), runs.length, front.load().turns], ["All done.", 1, 0]);
  await eventually(async () => (await front.store.load()).awake === 0);
});

test("a tree goes on although every wake is lost", async () => {
  const engine = new Engine();
  engine.otherwise = "lost";
  await using team = new Team(engine);
  const runs: unknown[] = [];
  await team.worker({ model, ...delegating(runs) });
  const front = await team.front({ model, ...delegating() });
  assert.equal((await front.sendMessage({ content: "go" })).reason, "complete");
  assert.equal(runs.length, 1);
});

test("an abort at a front ends a subagent that a worker drives", async () => {
  await bestOfThree(2_000, async () => {
    await using team = new Team();
    const search = new Agent({ name: "search", model: script(hang("…")), tools: {} });
    const asks = script(call("task", { agent: "search", prompt: "Search" }));
    const agent = new Agent({ name: "dev", model: asks, subagents: [search] });
    await team.worker({ model, agent });
    const front = await team.front({ model, agent });
    const started = next(front, "subagent_text_delta");
    const turn = front.sendMessage({ content: "go" });
    await started;
    const asked = performance.now();
    await front.abort();
    assert.equal((await turn).reason, "aborted");
    const ms = performance.now() - asked;
    await eventually(async () => (await front.store.load()).driven === 0);
    return ms;
  });
});

test("background subagents of a worker that closes go on in another one", async () => {
  await using team = new Team();
  const { note, runs } = noting();
  const background = () => {
    const search = new Agent({
      name: "search",
      model: script(call("note", { what: "x" }), say("Found.")),
      tools: { note },
    });
    const asks = script(
      call("task", { agent: "search", prompt: "Search", background: true }),
      say("Later."),
      say("Heard."),
    );
    return {
      agent: new Agent({ name: "dev", model: asks, subagents: [search], subagentBackground: true }),
      permissions: [],
    };
  };
  const leaving = await team.worker({ model, ...background() });
  const front = await team.front({ model, ...background() });
  assert.equal((await front.sendMessage({ content: "go" })).reason, "complete");
  assert.equal((await front.settled()).status, "waiting");
  await leaving.close();
  await team.worker({ model, ...background() });
  await front.respondToToolApproval({ decision: "approve" });
  await eventually(() => answerOf(front) === "Heard.");
  assert.equal(runs.length, 1);
});

/** An agent that starts two runs in the background, of which one may run at a time, and waits for both. */
function queueing(): Pick<HarnessConfig, "agent" | "permissions"> {
  const search = new Agent({ name: "search", model: script(say("Found.")), tools: {} });
  const asks = script(
    call(
      ["task", { agent: "search", prompt: "one", background: true }, "a"],
      ["task", { agent: "search", prompt: "two", background: true }, "b"],
    ),
    call("agent_await", { ids: ["bg-1", "bg-2"], mode: "all", timeout_ms: 30_000 }),
    say("All done."),
  );
  const subagentBackground = { maxConcurrent: 1, wake: false };
  return { agent: new Agent({ name: "dev", model: asks, subagents: [search], subagentBackground }), permissions };
}

const MOMENTS = 12;

for (const [how, make, runsInTree] of [
  ["that waits for its subagent", delegating, 1],
  ["with a queue in the background", queueing, 2],
] as const) {
  test(`a worker that dies at any call of the store leaves nothing undone in a tree ${how}`, async () => {
    const survived = async (nth: number, place: "before" | "after"): Promise<boolean> => {
      await using team = new Team();
      const runs: unknown[] = [];
      const storage = new DyingStore(team.data);
      await team.worker({ model, ...make(runs), storage });
      const front = await team.front({ model, ...make() });
      const { id } = await front.createThread();
      storage.dieAt({ nth, place });
      await front.followUp({ content: "go" });
      // No session is at the thread, so that no process but workers has it open.
      await front.createThread();
      const isOver = async () => (await front.store.read(id)).some(({ type }) => type === "agent_end");
      await eventually(async () => storage.isDead || (await isOver()));
      if (storage.isDead) await team.worker({ model, ...make(runs) });
      await eventually(isOver);
      // A `once` tool that a crash interrupted is reported, and not run again.
      assert.ok(runs.length <= 1, `${nth} ${place}: ${runs.length} runs`);
      const ends = (await front.store.read(id)).filter(({ type }) => type === "subagent_end");
      assert.equal(ends.length, runsInTree, `${nth} ${place}`);
      await eventually(async () => (await front.store.load()).awake === 0);
      return !storage.isDead;
    };
    for (let first = 1; ; first += MOMENTS) {
      const moments = Array.from({ length: MOMENTS }, (_, at) => first + at);
      const before = shareOf(moments, 3).map((nth) => survived(nth, "before"));
      const after = shareOf(moments, 3, 1).map((nth) => survived(nth, "after"));
      if ((await Promise.all([...before, ...after])).every(Boolean)) return;
    }
  });
}
