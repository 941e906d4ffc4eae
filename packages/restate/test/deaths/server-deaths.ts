import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { graphilePlacement } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { MortalPostgres } from "../../../postgres/test/mortal-postgres.ts";
import { Place } from "../../../postgres/test/place.ts";
import { until } from "../../../postgres/test/until.ts";
import { TestEngine } from "../engine.ts";
import { LocalTeam, takeovers } from "../local-team.ts";
import { MortalRestate } from "../mortal-restate.ts";
import type { DeathChecks } from "./death-check.ts";

/** One Restate dies again and again: these checks run one after the other. */
export function restateDeaths(restate: MortalRestate): DeathChecks {
  const begin = async () => {
    const { ingress, admin, identity } = await restate.start();
    const engines = await TestEngine.make({ ingress, admin, identity });
    const team = new LocalTeam(await Place.make());
    const { url } = team.place;
    await team.harness("worker", { url, placement: restatePlacement(engines.options), worker: {} });
    const front = await team.harness("front", { url, placement: restatePlacement(engines.options) });
    const { id: threadId } = await front.createThread();
    return { team, front, threadId, [Symbol.asyncDispose]: () => team[Symbol.asyncDispose]() };
  };
  return {
    "Restate is killed": async () => {
      await using begun = await begin();
      const { team, front, threadId } = begun;
      const turn = front.sendMessage({ content: "Walk." });
      await until("two steps", () => team.ran.length >= 2);
      await restate.kill();
      assert.equal((await turn).reason, "complete");
      const at = performance.now();
      // The worker finds it in the store.
      assert.equal((await front.sendMessage({ content: "Walk again." })).reason, "complete");
      const ms = performance.now() - at;
      assert.ok((await front.metrics()).wakesFailed >= 1);
      await restate.start();
      assert.equal((await front.sendMessage({ content: "And again." })).reason, "complete");
      assert.equal(takeovers(await team.assertOnce(threadId)), 0);
      await restate.kill();
      return ms;
    },

    "Restate has lost its data": async () => {
      await using begun = await begin();
      const { team, front, threadId } = begun;
      await restate.kill();
      restate.wipe();
      await restate.start();
      assert.equal((await front.sendMessage({ content: "Walk." })).reason, "complete");
      assert.equal((await front.metrics()).wakesFailed, 0, "the wake registered the workers, and was repeated");
      assert.equal(takeovers(await team.assertOnce(threadId)), 0);
      await restate.kill();
    },
  };
}

/** One Postgres dies again and again: these checks run one after the other. */
export function postgresDeaths(postgres: MortalPostgres): DeathChecks {
  /** Two workers, so that one could take over from the other. */
  const survives = async (fault: () => Promise<void>): Promise<number> => {
    await using team = new LocalTeam(await Place.make({ url: postgres.url }));
    const { url } = team.place;
    for (const by of ["first", "second"]) await team.harness(by, { url, placement: graphilePlacement(), worker: {} });
    const front = await team.harness("front", { url, placement: graphilePlacement() });
    const { id: threadId } = await front.createThread();
    const turn = front.sendMessage({ content: "Walk." });
    await until("two steps", () => team.ran.length >= 2);
    await fault();
    const at = performance.now();
    const steps = team.ran.length;
    await until("the next step", () => team.ran.length > steps);
    const ms = performance.now() - at;
    assert.equal((await turn).reason, "complete");
    assert.equal((await front.sendMessage({ content: "Walk again." })).reason, "complete");
    assert.equal(takeovers(await team.assertOnce(threadId)), 0, "no living driver is replaced");
    return ms;
  };
  return {
    "Postgres is killed": () =>
      survives(async () => {
        await postgres.kill();
        await pause(500);
        await postgres.start();
      }),
    "one process of Postgres is killed": () => survives(async () => postgres.killOne()),
    "Postgres is stopped": () => survives(() => postgres.stopFor(4_000)),
  };
}
