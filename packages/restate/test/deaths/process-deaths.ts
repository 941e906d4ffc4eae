import assert from "node:assert/strict";
import type { Harness } from "@cinch/core";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../../postgres/test/place.ts";
import { until } from "../../../postgres/test/until.ts";
import { TestEngine } from "../engine.ts";
import { LocalTeam, takeovers } from "../local-team.ts";
import type { Ran } from "../walker-harness.ts";
import type { WalkerProcess } from "../walker-process.ts";
import type { DeathChecks } from "./death-check.ts";

/** Processes of their own die. */
export const processDeaths: DeathChecks = {
  "a worker is killed": () => replaced("SIGKILL"),
  "a worker is stopped": () => replaced("SIGSTOP"),

  "a front is killed": async () => {
    await using engines = await TestEngine.make();
    await using team = new LocalTeam(await Place.make());
    const engine = engines.options;
    const front = await frontOf(team, engines);
    const { id: threadId } = await front.createThread();
    await team.process("worker", { engine });
    const { walker: killed } = await team.process("front", { engine, role: "front" });
    await killed.ask({ order: "post", threadId, content: "Walk." });
    await killed.kill();
    await team.stepOf("worker");
    // A client that reconnects here has seen the events up to this one.
    const since = (await front.listEvents()).at(-1)!.seq;
    const { status } = await front.settled();
    const events = await team.assertOnce(threadId);
    assert.deepEqual([status, takeovers(events)], ["idle", 0]);
    const missed = await front.listEvents({ after: since });
    assert.deepEqual(
      missed.map(({ seq }) => seq),
      events.slice(since).map(({ seq }) => seq),
    );
  },

  "all workers are gone": async () => {
    await using engines = await TestEngine.make();
    await using team = new LocalTeam(await Place.make());
    const engine = engines.options;
    const { walker: only } = await team.process("only", { engine });
    const front = await frontOf(team, engines);
    const seats = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const seat = await front.createSession();
        const { id } = await seat.createThread();
        return { seat, id };
      }),
    );
    const [begun, ...others] = seats;
    const turns = [begun!.seat.sendMessage({ content: "Walk." })];
    await team.stepOf("only");
    await only.kill();
    turns.push(...others.map(({ seat }) => seat.sendMessage({ content: "Walk." })));
    await until("the wakes", async () => (await front.metrics()).wakesSent >= seats.length);
    const { served } = await team.process("next", { engine });
    const reasons = (await Promise.all(turns)).map(({ reason }) => reason);
    assert.deepEqual(new Set(reasons), new Set(["complete"]));
    const firsts = await Promise.all(
      seats.map(async ({ id }) => {
        const { events } = await team.assertNoneTwice(id);
        // By the clock of the worker, from the moment when it served.
        return events.find(({ type, at }) => type === "agent_start" && at >= served)!.at - served;
      }),
    );
    return Math.max(...firsts);
  },

  "a thread kills its drivers": async () => {
    await using engines = await TestEngine.make();
    await using team = new LocalTeam(await Place.make());
    const engine = engines.options;
    const front = await frontOf(team, engines);
    const { id: threadId } = await front.createThread();
    let workers = await Promise.all(["a", "b"].map((by) => team.process(by, { engine })));
    await front.post({ content: "Die.", delivery: "send" });
    await until(
      "the parked turn",
      async () => {
        const alive = workers.filter(({ walker }) => walker.isAlive);
        const isParked = front.getDisplayState().status === "parked";
        workers = isParked || alive.length > 1 ? alive : [...alive, await team.process("next", { engine })];
        return isParked;
      },
      60_000,
    );
    const { events } = await team.assertNoneTwice(threadId);
    assert.equal(takeovers(events), 3);
    await front.abort();
    await front.createThread();
    assert.equal((await front.sendMessage({ content: "Walk." })).reason, "complete", "the next worker lives on");
  },
};

const frontOf = (team: LocalTeam, { options }: TestEngine): Promise<Harness> =>
  team.harness("front", { url: team.place.url, placement: restatePlacement(options) });

async function replaced(signal: "SIGKILL" | "SIGSTOP"): Promise<number> {
  await using engines = await TestEngine.make();
  await using team = new LocalTeam(await Place.make());
  const engine = engines.options;
  const workers = new Map<string, WalkerProcess>();
  for (const by of ["a", "b"]) workers.set(by, (await team.process(by, { engine })).walker);
  const front = await frontOf(team, engines);
  const { id: threadId } = await front.createThread();
  const turn = front.sendMessage({ content: "Walk." });
  await until("two steps", () => team.ran.length >= 2);
  const [{ by: first }] = team.ran as [Ran];
  const at = performance.now();
  workers.get(first)!.signal(signal);
  await team.stepOf(first === "a" ? "b" : "a");
  const ms = performance.now() - at;
  workers.get(first)!.signal("SIGCONT");
  assert.equal((await turn).reason, "complete");
  if (signal === "SIGSTOP")
    await until("the stopped one leaves the thread", async () => {
      const answer = await workers.get(first)!.ask({ order: "driven" });
      return "driven" in answer && answer.driven === 0;
    });
  const { events } = await team.assertNoneTwice(threadId);
  assert.equal(takeovers(events), 1);
  return ms;
}
