import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Placement } from "@cinch/core";
import { graphilePlacement } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../postgres/test/place.ts";
import { TestEngine } from "./engine.ts";
import { LocalTeam, takeovers } from "./local-team.ts";
import { STEPS } from "./walker-harness.ts";
import { until } from "../../postgres/test/until.ts";

describe("harnesses with a placement", { concurrency: true }, () => {
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
      // It begins to leave while it has steps to go, however long the other one takes to start.
      const left = leaving.close({ drainMs: 60_000 });
      await team.harness("staying", { url, placement: placement(), worker: {} });
      await left;
      assert.equal((await turn).reason, "complete");
      const events = await team.assertOnce(threadId);
      const ends = events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
      assert.deepEqual([ends.length, ends.some(({ unknown }) => unknown), takeovers(events)], [STEPS, false, 0]);
      assert.deepEqual([...new Set(team.ran.map(({ by }) => by))], ["leaving", "staying"]);
    });
});
