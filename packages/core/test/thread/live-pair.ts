import { defineTool, systemClock, type Clock, type HarnessConfig, type HarnessEvent, type Live } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { script, type Step } from "@cinch/testkit";
import * as z from "zod";
import { harness } from "../support.ts";
import { Exchange, type Faults } from "./exchange.ts";
import { settled, until } from "./reconnect-talk.ts";

/** Events that each session emits for itself. */
const OWN = ["thread_changed", "resync", "display_state_changed"];

/** As a subscriber sees them, without the times at which each process has derived some of them. */
export const seenOf = (events: readonly HarnessEvent[]): unknown[] =>
  events
    .filter(({ type }) => !OWN.includes(type))
    .map((event) => JSON.parse(JSON.stringify({ ...event, at: 0 })) as unknown);

/** The text that came as deltas. */
export const liveText = (events: readonly HarnessEvent[]): string =>
  events.flatMap((event) => (event.type === "message_update" ? [event.delta] : [])).join("");

export const dig = defineTool({
  description: "Digs",
  input: z.object({ depth: z.number() }),
  execute: async ({ depth }, { emit, files }) => {
    for (let at = 1; at <= depth; at++) {
      emit({ at });
      files.print(`at ${at}\n`, at % 2 ? "stdout" : "stderr");
      await settled();
    }
    return "deep";
  },
});

/** Counts what a watcher asks the store. */
class CountingStore extends MemoryStore {
  asked: string[] = [];

  override read(...args: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    this.asked.push("read");
    return super.read(...args);
  }

  override draft(...args: Parameters<MemoryStore["draft"]>): ReturnType<MemoryStore["draft"]> {
    this.asked.push("draft");
    return super.draft(...args);
  }
}

interface PairOptions extends Partial<HarnessConfig> {
  faults?: Faults;
  /** Default: lines in memory. */
  lives?: { driver: Live; watcher: Live };
}

/** A driver and a watcher in another process, at the same thread. `clock` is that of the watcher. */
export async function pair(
  steps: Step[],
  { faults = {}, clock = systemClock, lives, tools: more = {}, ...config }: PairOptions = {},
) {
  const exchange = new Exchange(faults);
  const data = new MemoryData();
  const stores = { driver: new MemoryStore(data), watcher: new CountingStore(data), data };
  const model = script(...steps);
  const tools = { dig, ...more };
  const driver = await harness({
    ...config,
    model,
    tools,
    storage: stores.driver,
    live: lives?.driver ?? exchange.live("driver:1"),
  });
  const { id } = await driver.createThread();
  const watcher = await harness({
    ...config,
    model,
    tools,
    clock,
    storage: stores.watcher,
    live: lives?.watcher ?? exchange.live("watcher:1"),
  });
  await watcher.switchThread({ threadId: id });
  await settled();
  driver.seen.length = 0;
  watcher.seen.length = 0;
  const close = async () => {
    await watcher.close();
    await driver.close();
  };
  return { driver, watcher, exchange, stores, id, [Symbol.asyncDispose]: close };
}

/** A watcher with this clock trusts its link for long, however slow the machine is. */
export const patient: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => systemClock.after(ms >= 300 ? 20 * ms : ms, callback),
};

/** Settles when the watcher has folded the journal up to `seq`, and no turn is open. */
export const idle = (watcher: { getDisplayState(): { status: string; seq: number } }, seq: number) =>
  until(() => watcher.getDisplayState().status === "idle" && watcher.getDisplayState().seq >= seq);
