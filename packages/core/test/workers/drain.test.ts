import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";
import { gated, permissions } from "../support.ts";
import { eventually, Team } from "./team.ts";

const steps = () => script(call("gate"), call("note"), say("done"));

/** A tool that runs until the test opens its gate, and one that counts its runs. */
function tools() {
  const slow = gated();
  const quick = gated();
  quick.open();
  return { ...slow, after: quick.runs, tools: { gate: slow.gate, note: quick.gate } };
}

test("a worker that drains lets the call that runs end, and another worker goes on with the next step", async () => {
  await using team = new Team();
  const { tools: both, started, runs, after, open } = tools();
  const leaving = await team.worker({ model: steps(), tools: both });
  const front = await team.front({ model: script(), tools: both });
  const turn = front.sendMessage({ content: "go" });
  await started;
  const drained = leaving.drain({ drainMs: 20_000 });
  const model = steps();
  await team.worker({ model, tools: both });
  open();
  await drained;
  assert.equal(leaving.load().turns, 0);
  assert.equal((await turn).reason, "complete");
  assert.deepEqual([runs.length, after.length, model.requests.length], [1, 1, 2]);
  assert.equal(team.engine.outcomes[0]?.outcome, "handed_over");
  const starts = (await front.listEvents()).filter((event) => event.type === "agent_start");
  assert.ok(starts.every((event) => event.takeover === undefined));
});

test("a worker that drains takes no thread any more, and its sessions stay", async () => {
  await using team = new Team();
  const leaving = await team.worker({ model: script() });
  await leaving.drain();
  const sent = leaving.sendMessage({ content: "hi" });
  await eventually(async () => (await leaving.store.load()).awake === 1);
  assert.equal(await leaving.drive({ threadId: leaving.getCurrentThreadId()! }), "handed_over");
  await team.worker({ model: script(say("hello")) });
  assert.equal((await sent).reason, "complete");
});

test("a call that outlasts drainMs goes on, and close stops it", async () => {
  await using team = new Team();
  const { tools: both, started, runs } = tools();
  const leaving = await team.worker({ model: steps(), tools: both });
  const front = await team.front({ model: script(), tools: both });
  const turn = front.sendMessage({ content: "go" });
  await started;
  await leaving.drain({ drainMs: 50 });
  assert.equal(leaving.load().turns, 1);
  await team.worker({ model: steps(), tools: both });
  await leaving.close({ drainMs: 0 });
  assert.equal((await turn).reason, "complete");
  // A `once` call that was cut is reported to the model, and not run again.
  assert.equal(runs.length, 1);
});

test("a deploy: each of three workers is replaced while 30 turns run, and no tool is cut or runs twice", async () => {
  await using team = new Team();
  const ran = new Map<string, number>();
  const work = defineTool({
    description: "Works",
    input: z.object({}),
    execute: async (_, { key, signal }) => {
      ran.set(key, (ran.get(key) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return signal.aborted ? "cut" : "whole";
    },
  });
  const model = () => script(...Array.from({ length: 6 }, () => call("work", {})), say("done"));
  const make = () => team.worker({ model: model(), tools: { work } });
  const workers = await Promise.all([make(), make(), make()]);
  const front = await team.front({ model: script(), tools: { work } });
  const sessions = await Promise.all(
    Array.from({ length: 30 }, (_, at) => front.createSession({ resourceId: `r${at}` })),
  );
  const turns = sessions.map((session) => session.sendMessage({ content: "go" }));
  for (const old of workers) {
    await make();
    await old.close({ drainMs: 20_000 });
  }
  assert.deepEqual([...new Set((await Promise.all(turns)).map(({ reason }) => reason))], ["complete"]);
  assert.deepEqual([ran.size, [...new Set(ran.values())]], [180, [1]]);
  const events = (await Promise.all(sessions.map((session) => session.listEvents({ limit: 1_000 })))).flat();
  const ends = events.filter((event) => event.type === "tool_end");
  assert.deepEqual([...new Set(ends.map(({ result }) => result.content))], ["whole"]);
  assert.equal(
    events.some((event) => event.type === "agent_start" && event.takeover),
    false,
  );
});

test("without a placement, drain() leaves the turn to another process that has the thread open", async () => {
  const { tools: both, started, runs, after, open } = tools();
  const storage = memoryStore();
  const make = () => new Agent({ name: "a", model: steps(), tools: both });
  const h = new Harness({ id: "t", agent: make(), storage, permissions });
  const turn = h.sendMessage({ content: "go" }).catch((error: unknown) => error);
  await started;
  const drained = h.drain();
  open();
  await drained;
  assert.deepEqual([h.load().turns, runs.length, after.length], [0, 1, 0]);
  assert.equal((await storage.lease(h.getCurrentThreadId()!)).status, "free");
  await h.close();
  await turn;
});
