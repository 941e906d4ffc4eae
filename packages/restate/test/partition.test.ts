import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Placement } from "@cinch/core";
import { graphilePlacement } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../postgres/test/place.ts";
import { Proxy } from "../../postgres/test/proxy.ts";
import { CuttingProxy, TestEngine } from "./engine.ts";
import { LocalTeam, takeovers } from "./local-team.ts";
import { until } from "../../postgres/test/until.ts";

describe("a worker that is cut off", { concurrency: true }, () => {
  for (const engine of ["restate", "graphile"] as const)
    test(`from Postgres, and not from its placement (${engine}), loses its turn to another one, and writes nothing late`, async () => {
      await using engines = await TestEngine.make();
      await using team = new LocalTeam(await Place.make());
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
    await using team = new LocalTeam(await Place.make());
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
