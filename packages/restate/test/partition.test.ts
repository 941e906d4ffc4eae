import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness, type DurableEvent, type HarnessConfig, type Placement } from "@cinch/core";
import { graphilePlacement, postgresStore } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { Place } from "../../postgres/test/place.ts";
import { Proxy } from "../../postgres/test/proxy.ts";
import { CuttingProxy, TestEngine } from "./engine.ts";
import { until } from "./until.ts";

const STEPS = 8;

interface Ran {
  by: string;
  key: string;
}

/** Processes of one team, in this process, whose connections can be cut. */
class PartitionedTeam implements AsyncDisposable {
  readonly place: Place;
  readonly ran: Ran[] = [];
  readonly #harnesses: Harness[] = [];

  constructor(place: Place) {
    this.place = place;
  }

  async harness(by: string, { url, placement, ...role }: Partial<HarnessConfig> & { url: string }): Promise<Harness> {
    const step = defineTool({
      description: "One step",
      effect: "once",
      category: "read",
      input: z.object({}),
      execute: async (_, { key }) => {
        this.ran.push({ by, key });
        await pause(300);
        return "done";
      },
    });
    const model = scriptedBy(({ prompt }) =>
      prompt.filter(({ role: said }) => said === "tool").length < STEPS ? call("step", {}, randomUUID()) : say("Done."),
    );
    const harness = new Harness({
      id: "team",
      storage: postgresStore({ url, schema: this.place.schema }),
      agent: new Agent({ name: "walker", model, tools: { step } }),
      placement,
      ...role,
    });
    this.#harnesses.push(harness);
    await harness.init();
    return harness;
  }

  /** No call ran twice, although two processes drove the thread. */
  async assertOnce(threadId: string): Promise<DurableEvent[]> {
    const events = await (await this.place.store()).read(threadId);
    const keys = this.ran.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length);
    const started = events.flatMap((event) => (event.type === "tool_start" ? [event.key] : []));
    assert.deepEqual(new Set(keys), new Set(started));
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#harnesses.map((harness) => harness.close({ drainMs: 0 })));
    await this.place[Symbol.asyncDispose]();
    await this.place.query(`DROP SCHEMA IF EXISTS "${this.place.schema}_wakes" CASCADE`);
  }
}

const takeovers = (events: readonly DurableEvent[]): number =>
  events.filter((event) => event.type === "agent_start" && event.takeover).length;

describe("a worker that is cut off", { concurrency: true }, () => {
  for (const engine of ["restate", "graphile"] as const)
    test(`from Postgres, and not from its placement (${engine}), loses its turn to another one, and writes nothing late`, async () => {
      await using engines = await TestEngine.make();
      await using team = new PartitionedTeam(await Place.make());
      await using proxy = await Proxy.to(team.place.url);
      const placement = (): Placement =>
        engine === "restate" ? restatePlacement(engines.options) : graphilePlacement();
      await team.harness("cut off", { url: proxy.url, placement: placement(), worker: {} });
      const front = await team.harness("front", { url: team.place.url, placement: placement() });
      const { id: threadId } = await front.createThread();
      const turn = front.sendMessage({ content: "Walk." });
      await until("two steps", () => team.ran.length >= 2);
      await team.harness("other", { url: team.place.url, placement: placement(), worker: {} });
      proxy.freeze();
      await until("a step of the other worker", () => team.ran.some(({ by }) => by === "other"), 40_000);
      proxy.thaw();
      assert.equal((await turn).reason, "complete");
      const events = await team.assertOnce(threadId);
      assert.ok(takeovers(events) >= 1);
    });

  test("from Restate, and not from Postgres, goes on with its turn", async () => {
    await using engines = await TestEngine.make();
    await using balancer = await CuttingProxy.to(engines.port);
    await using team = new PartitionedTeam(await Place.make());
    const placement = () => restatePlacement({ ...engines.options, advertise: balancer.url, port: engines.port });
    await team.harness("cut off", { url: team.place.url, placement: placement(), worker: {} });
    const front = await team.harness("front", { url: team.place.url, placement: placement() });
    const { id: threadId } = await front.createThread();
    const turn = front.sendMessage({ content: "Walk." });
    await until("two steps", () => team.ran.length >= 2);
    balancer.state = "silent";
    balancer.cut();
    assert.equal((await turn).reason, "complete");
    const events = await team.assertOnce(threadId);
    assert.equal(takeovers(events), 0);
    // Without wakes, the worker finds the next turn in the store.
    assert.equal((await front.sendMessage({ content: "Walk again." })).reason, "complete");
  });
});
