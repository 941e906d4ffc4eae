import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { defineTool, type DurableEvent, type Session } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as fc from "fast-check";
import * as z from "zod";
import { Engine, type Fate } from "./engine.ts";
import { eventually, Team } from "./team.ts";

const THREADS = 6;
const MESSAGES = 2;

interface Plan {
  fates: Fate[];
  /** When workers are killed, in ms after the last death, and whether one is drained instead. */
  ends: { afterMs: number; drains: boolean }[];
}

const plans: fc.Arbitrary<Plan> = fc.record({
  fates: fc.array(
    fc.oneof(fc.constantFrom<Fate>("arrives", "lost", "fails", "twice", "hangs"), fc.integer({ min: 1, max: 1_500 })),
    { maxLength: 40 },
  ),
  ends: fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 400 }), drains: fc.boolean() }), { maxLength: 4 }),
});

/** How often each call of a tool was executed, by its key. */
class Effects {
  readonly runs = new Map<string, number>();

  tool(effect: "once" | "idempotent") {
    return defineTool({
      description: effect,
      effect,
      input: z.object({}),
      execute: async (_, { key }) => {
        this.runs.set(`${effect} ${key}`, (this.runs.get(`${effect} ${key}`) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, 15));
        return "worked";
      },
    });
  }
}

/** Two calls, then an answer, for each message. */
const model = () =>
  scriptedBy(({ prompt }) => {
    const since = prompt.slice(prompt.findLastIndex(({ role }) => role === "user"));
    const calls = since.filter(({ role }) => role === "assistant").length;
    if (calls === 0) return call("first", {});
    return calls === 1 ? call("second", {}) : say("done");
  });

async function survive({ fates, ends }: Plan): Promise<void> {
  await using team = new Team(new Engine(...fates));
  const effects = new Effects();
  const tools = { first: effects.tool("once"), second: effects.tool("idempotent") };
  const worker = () => team.worker({ model: model(), tools });
  const workers = await Promise.all([worker(), worker(), worker()]);
  const front = await team.front({ model: model(), tools });
  const sessions = await Promise.all(Array.from({ length: THREADS }, () => front.createSession()));
  const threads = await Promise.all(sessions.map(async (session) => (await session.createThread()).id));
  const turns = sessions.flatMap((session) =>
    Array.from({ length: MESSAGES }, (_, at) => session.sendMessage({ content: `message ${at}` })),
  );
  for (const { afterMs, drains } of ends) {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const leaving = workers.shift()!;
    workers.push(await worker());
    if (drains) await leaving.close({ drainMs: 5_000 });
    else leaving.store.die();
  }
  const results = await continued(sessions, Promise.all(turns));
  assert.deepEqual([...new Set(results.map(({ reason }) => reason))], ["complete"]);
  await eventually(async () => (await front.store.load()).awake === 0);
  for (const [key, runs] of effects.runs) if (key.startsWith("once ")) assert.equal(runs, 1, key);
  for (const threadId of threads) check(await front.store.read(threadId));
}

/** Waits for the turns. If all their drivers died before they got any further, they are parked until a person continues them. */
async function continued<T>(sessions: readonly Session[], turns: Promise<T>): Promise<T> {
  const pending = Symbol("pending");
  for (;;) {
    const results = await Promise.race([turns, pause(50, pending)]);
    if (results !== pending) return results as T;
    for (const session of sessions) if (session.getDisplayState().status === "parked") await session.resume();
  }
}

function check(events: readonly DurableEvent[]): void {
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, at) => at + 1),
  );
  const count = (type: string) => events.filter((event) => event.type === type).length;
  assert.deepEqual([count("input_accepted"), count("input_taken"), count("agent_end")], [MESSAGES, MESSAGES, MESSAGES]);
  const ends = events.flatMap((event) => (event.type === "tool_end" ? [`${event.turnId} ${event.toolCallId}`] : []));
  assert.equal(new Set(ends).size, ends.length);
}

test("whatever the engine does to wakes, and whichever workers die, every message is answered once", async () => {
  await fc.assert(fc.asyncProperty(plans, survive), { numRuns: 5, endOnFailure: true });
});
