import assert from "node:assert/strict";
import type { HarnessEvent, Live, Placement } from "@cinch/core";
import { graphilePlacement, peerLive } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { Place } from "../../../postgres/test/place.ts";
import { Proxy } from "../../../postgres/test/proxy.ts";
import { until } from "../../../postgres/test/until.ts";
import { CuttingProxy, TestEngine } from "../engine.ts";
import { LocalTeam, takeovers } from "../local-team.ts";
import { TALK } from "../walker-harness.ts";
import type { DeathChecks } from "./death-check.ts";

/** What lies between parts dies. */
export const networkDeaths: DeathChecks = {
  "a worker is cut off from Postgres": async () => {
    await using engines = await TestEngine.make();
    const gaps = [() => restatePlacement(engines.options), () => graphilePlacement()].flatMap((placement) => [
      cutOffFromPostgres(placement, "at any moment"),
      cutOffFromPostgres(placement, "before the answer to an append"),
    ]);
    return Math.max(...(await Promise.all(gaps)));
  },

  "a worker is cut off from Restate": async () => {
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
    const at = performance.now();
    assert.equal((await front.sendMessage({ content: "Walk again." })).reason, "complete");
    return performance.now() - at;
  },

  "a front is cut off from the driver": async () => {
    await using engines = await TestEngine.make();
    await using team = new LocalTeam(await Place.make());
    await using line = new CutLine();
    const { url } = team.place;
    const placement = () => restatePlacement(engines.options);
    await team.harness("driver", { url, placement: placement(), worker: {}, live: line.live });
    const front = await team.harness("front", { url, placement: placement(), live: peerLive({ secret: SECRET }) });
    await front.createThread();
    const seen: HarnessEvent[] = [];
    front.subscribe((event) => seen.push(event));
    const shown = () => seen.map((event) => (event.type === "message_update" ? event.delta : "")).join("");
    const turn = front.sendMessage({ content: "Talk." });
    await until("what streams", () => shown().length > 100);
    const at = performance.now();
    line.cut();
    const before = shown().length;
    await until("what the draft has", () => shown().length > before + 100);
    const ms = performance.now() - at;
    line.mend();
    assert.equal((await turn).reason, "complete");
    assert.ok(TALK.startsWith(shown()), "no text comes twice, and none is lost");
    const [said] = front.getDisplayState().messages.at(-1)!.content;
    assert.deepEqual(said, { type: "text", text: TALK });
    return ms;
  },
};

const SECRET = "the-secret-of-these-processes";

/** The live link of a driver, behind a proxy that can be cut. */
class CutLine implements AsyncDisposable {
  readonly live: Live;
  #proxy: CuttingProxy | undefined;

  constructor() {
    const direct = peerLive({ advertise: "127.0.0.1:0", secret: SECRET });
    this.live = {
      open: async (source) => {
        const { address } = await direct.open(source);
        this.#proxy = await CuttingProxy.to(Number(address!.split(":").at(-1)));
        return { address: new URL(this.#proxy.url).host };
      },
      follow: (threadId, driver, reader) => direct.follow(threadId, driver, reader),
      close: () => direct.close(),
    };
  }

  cut(): void {
    this.#proxy!.state = "down";
    this.#proxy!.cut();
  }

  mend(): void {
    this.#proxy!.state = "up";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]();
  }
}

type Cut = "at any moment" | "before the answer to an append";

/** It reaches its placement all the time. */
async function cutOffFromPostgres(placement: () => Placement, when: Cut): Promise<number> {
  await using team = new LocalTeam(await Place.make());
  await using proxy = await Proxy.to(team.place.url);
  await team.harness("cut off", { url: proxy.url, placement: placement(), worker: {} });
  const front = await team.harness("front", { url: team.place.url, placement: placement() });
  const { id: threadId } = await front.createThread();
  const turn = front.sendMessage({ content: "Walk." });
  await until("two steps", () => team.ran.length >= 2);
  await team.harness("other", { url: team.place.url, placement: placement(), worker: {} });
  const at = performance.now();
  if (when === "at any moment") proxy.freeze();
  else proxy.freezeAfter("tool_start");
  await team.stepOf("other");
  const ms = performance.now() - at;
  proxy.thaw();
  assert.equal((await turn).reason, "complete");
  const { events, unrun } = await team.assertNoneTwice(threadId);
  assert.ok(takeovers(events) >= 1);
  if (when === "before the answer to an append") assert.equal(unrun.length, 1);
  return ms;
}
