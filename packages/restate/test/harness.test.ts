import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Placement } from "@cinch/core";
import { graphilePlacement } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../postgres/test/place.ts";
import { TestEngine } from "./engine.ts";
import { LocalTeam, STEPS, takeovers } from "./local-team.ts";
import { freePort } from "./server.ts";
import { until } from "../../postgres/test/until.ts";

describe("harnesses with a placement", { concurrency: 3 }, () => {
  for (const engine of ["restate", "graphile"] as const)
    test(`a worker that leaves hands its turn over by ${engine}: no call is cut, and none runs twice`, async () => {
      await using engines = await TestEngine.make();
      await using team = new LocalTeam(await Place.make());
      const { url } = team.place;
      const placement = (): Placement =>
        engine === "restate" ? restatePlacement(engines.options) : graphilePlacement();
      const leaving = await team.harness("leaving", { url, placement: placement(), worker: {} });
      const front = await team.harness("front", { url, placement: placement() });
      const { id: threadId } = await front.createThread();
      const turn = front.sendMessage({ content: "Walk." });
      await until("two steps", () => team.ran.length >= 2);
      await team.harness("staying", { url, placement: placement(), worker: {} });
      await leaving.close({ drainMs: 20_000 });
      assert.equal((await turn).reason, "complete");
      const events = await team.assertOnce(threadId);
      const ends = events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
      assert.deepEqual([ends.length, ends.some(({ unknown }) => unknown), takeovers(events)], [STEPS, false, 0]);
      assert.deepEqual([...new Set(team.ran.map(({ by }) => by))], ["leaving", "staying"]);
    });

  test("without Restate every turn runs all the same, and the wakes that failed are counted", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    await using engines = await TestEngine.make({ ingress: nowhere, admin: nowhere });
    await using team = new LocalTeam(await Place.make());
    const { url } = team.place;
    await team.harness("worker", { url, placement: restatePlacement(engines.options), worker: {} });
    const front = await team.harness("front", { url, placement: restatePlacement(engines.options) });
    await front.createThread();
    assert.equal((await front.sendMessage({ content: "Walk." })).reason, "complete");
    assert.ok((await front.metrics()).wakesFailed >= 1);
  });

  test("threads that were woken while no worker was up are driven when one starts", async () => {
    await using engines = await TestEngine.make();
    await using team = new LocalTeam(await Place.make());
    const { url } = team.place;
    const first = await team.harness("first", { url, placement: restatePlacement(engines.options), worker: {} });
    const front = await team.harness("front", { url, placement: restatePlacement(engines.options) });
    await first.close();
    const seats = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const seat = await front.createSession();
        await seat.createThread();
        return seat;
      }),
    );
    const turns = seats.map((seat) => seat.sendMessage({ content: "Walk." }));
    await until("the wakes", async () => (await front.metrics()).wakesSent >= 10);
    assert.deepEqual(team.ran, []);
    await team.harness("second", { url, placement: restatePlacement(engines.options), worker: {} });
    const reasons = (await Promise.all(turns)).map(({ reason }) => reason);
    assert.deepEqual(new Set(reasons), new Set(["complete"]));
  });
});
