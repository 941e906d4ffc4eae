import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness, type DurableEvent, type HarnessConfig } from "@cinch/core";
import { postgresStore } from "@cinch/postgres";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { Place } from "../../postgres/test/place.ts";

export const STEPS = 8;

interface Ran {
  by: string;
  key: string;
}

/** Workers and fronts in this process, on one database. A turn has eight steps, each with a call that must not run twice. */
export class LocalTeam implements AsyncDisposable {
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

export const takeovers = (events: readonly DurableEvent[]): number =>
  events.filter((event) => event.type === "agent_start" && event.takeover).length;
