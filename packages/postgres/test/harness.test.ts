import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Agent, Harness, type DurableEvent } from "@cinch/core";
import { postgresStore } from "@cinch/postgres";
import { say, scriptedBy } from "@cinch/testkit";
import { bundle } from "../../testkit/test/bundle.ts";
import { created } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

const program = await bundle(new URL("./programs/sender.ts", import.meta.url));
const ofType = (events: readonly DurableEvent[], type: DurableEvent["type"]) =>
  events.filter((event) => event.type === type);

class Sender {
  readonly process: ChildProcess;
  readonly reports: Record<string, unknown>[] = [];
  readonly ended: Promise<unknown>;

  constructor(place: Place, id: string, toolMs = 0) {
    this.process = fork(program, [JSON.stringify(place.options), id, String(toolMs)], { execArgv: [] });
    this.process.on("message", (report: Record<string, unknown>) => this.reports.push(report));
    this.ended = once(this.process, "exit");
    place.add({ close: async () => void this.process.kill("SIGKILL") });
  }

  reported(key: string): Promise<void> {
    return until(`the report of "${key}"`, () => this.reports.some((report) => key in report), 40_000);
  }
}

/** With an empty thread "t". */
async function withThread(): Promise<Place> {
  const place = await Place.make();
  const store = await place.store();
  await store.append("t", [created({ title: "", resourceId: "default" })], { afterSeq: 0 });
  return place;
}

const journal = async (place: Place): Promise<DurableEvent[]> => (await place.store()).read("t");

describe("a harness on Postgres", { concurrency: 2 }, () => {
  test("a turn runs, another process's harness shows it, and a new one continues it", async () => {
    await using place = await Place.make();
    const make = () =>
      new Harness({
        id: "first",
        agent: new Agent({ name: "parrot", model: scriptedBy(() => say("hello yourself")) }),
        storage: postgresStore(place.options),
      });
    const [one, two] = [make(), make()];
    await Promise.all([one.init(), two.init()]);
    const { id: threadId } = await one.createThread();
    await two.switchThread({ threadId });
    const { reason, message } = await one.sendMessage({ content: "hello" });
    assert.deepEqual([reason, message?.content], ["complete", [{ type: "text", text: "hello yourself" }]]);
    await until("the display in the other harness", () => two.getDisplayState().messages.length === 2);
    assert.equal((await two.sendMessage({ content: "and again" })).reason, "complete");
    await Promise.all([one.close(), two.close()]);
    const three = make();
    await three.init();
    await three.switchThread({ threadId });
    assert.equal(three.getDisplayState().messages.length, 4);
    await three.close();
  });

  test("when four processes race for one thread, every message is answered once, by one driver at a time", async () => {
    await using place = await withThread();
    const ids = ["a", "b", "c", "d"];
    const senders = ids.map((id) => new Sender(place, id));
    await Promise.all(senders.map(({ ended }) => ended));
    assert.deepEqual(
      senders.map(({ reports }) => reports.at(-1)),
      ids.map((id) => ({ reason: "complete", said: [{ type: "text", text: `${id} said` }] })),
    );
    const ran = senders.flatMap(({ reports }) => reports.flatMap((report) => report["ran"] ?? []));
    assert.deepEqual(ran.toSorted(), ids);
    const events = await journal(place);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, at) => at + 1),
    );
  });

  test("a driver that is killed with kill -9 is replaced, and its tool does not run again", async () => {
    await using place = await withThread();
    const killed = new Sender(place, "first", 100_000);
    await killed.reported("ran");
    const waiting = new Sender(place, "second");
    await waiting.reported("ready");
    killed.process.kill("SIGKILL");
    await waiting.reported("tookOver");
    await waiting.ended;
    assert.equal(waiting.reports.at(-1)?.["reason"], "complete");
    const ran = [killed, waiting].flatMap(({ reports }) => reports.flatMap((report) => report["ran"] ?? []));
    assert.deepEqual(ran, ["first", "second"]);
    const ends = ofType(await journal(place), "tool_end") as { unknown?: boolean }[];
    assert.deepEqual(
      ends.map(({ unknown = false }) => unknown),
      [true, false],
    );
  });

  test("a stopped driver is replaced, and its appends are refused when it continues", async () => {
    await using place = await withThread();
    const stopped = new Sender(place, "first", 300);
    await stopped.reported("ran");
    stopped.process.kill("SIGSTOP");
    const healthy = new Sender(place, "second");
    await healthy.ended;
    assert.equal(healthy.reports.at(-1)?.["reason"], "complete");
    stopped.process.kill("SIGCONT");
    await stopped.ended;
    assert.equal(stopped.reports.at(-1)?.["reason"], "complete");
    const events = await journal(place);
    assert.equal(ofType(events, "agent_end").length, 2);
    assert.equal(ofType(events, "tool_end").length, 2);
  });
});
