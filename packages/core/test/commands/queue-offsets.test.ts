import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import type { Harness } from "@cinch/core";
import { shareOf } from "../../../testkit/test/share.ts";
import { ANSWER, assertDelivered, idle, process, quiet, saidIn } from "./queue-runs.ts";

/**
 * Between the model's answer and the end of the turn there are only microtasks, so a moment is a number of microtasks. The tests try 100
 * moments around the end, each with stores that are 0 to 4 microtasks slower: 500 interleavings, of which `npm test` has 200. From another
 * process they try fewer.
 */
const MOMENTS = { "the driver": 100, "another process": 60 };
const STORES = shareOf([0, 1, 2, 3, 4], 3);

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await undefined;
}

/** A store whose calls and results are delayed by a number of microtasks. */
class SlowStore extends MemoryStore {
  readonly #slow: number;

  constructor(data: MemoryData, slow: number) {
    super(data);
    this.#slow = slow;
  }

  override append(...args: Parameters<MemoryStore["append"]>): ReturnType<MemoryStore["append"]> {
    return this.#slowly(() => super.append(...args));
  }

  override read(...args: Parameters<MemoryStore["read"]>): ReturnType<MemoryStore["read"]> {
    return this.#slowly(() => super.read(...args));
  }

  override lease(threadId: string): ReturnType<MemoryStore["lease"]> {
    return this.#slowly(() => super.lease(threadId));
  }

  async #slowly<T>(work: () => Promise<T>): Promise<T> {
    await ticks(this.#slow);
    const result = await work();
    await ticks(this.#slow);
    return result;
  }
}

/** The command at an offset. Settles with whether it was accepted. */
type Act = (seat: Harness, what: string) => Promise<boolean>;
type By = keyof typeof MOMENTS;

/** The driving process, and a session in it or in another process. */
class Seats implements AsyncDisposable {
  readonly #storage: SlowStore;
  readonly #slow: number;
  readonly #driver: Harness;
  readonly #seat: Harness;
  #asked = Promise.withResolvers<void>();
  #answer = Promise.withResolvers<void>();

  constructor(by: By, slow: number) {
    const data = new MemoryData();
    const mayAnswer = () => {
      this.#asked.resolve();
      return this.#answer.promise;
    };
    this.#slow = slow;
    this.#storage = new SlowStore(data, slow);
    this.#driver = process(this.#storage, mayAnswer);
    this.#seat = by === "the driver" ? this.#driver : process(new SlowStore(data, slow), mayAnswer);
  }

  /** The first turn of an agent takes longer, by an unknown number of microtasks. */
  async warmUp(): Promise<void> {
    this.#answer.resolve();
    for (const one of [this.#driver, this.#seat]) await one.sendMessage({ content: "hello" });
  }

  /** Runs a turn, with these inputs queued behind it, up to the point at which the model may answer. */
  async #begin(queued: readonly string[]): Promise<string> {
    const { id } = await this.#driver.createThread();
    this.#asked = Promise.withResolvers();
    this.#answer = Promise.withResolvers();
    for (const content of ["first", ...queued]) await this.#driver.post({ content, id: content, delivery: "send" });
    await this.#asked.promise;
    await this.#seat.switchThread({ threadId: id });
    await quiet();
    return id;
  }

  /** Runs such a turn, and the command a number of microtasks after the model was allowed to answer. */
  async turn(queued: readonly string[], at: number, act: Act) {
    const what = `after ${at} ticks, with a store slower by ${this.#slow}`;
    const id = await this.#begin(queued);
    this.#answer.resolve();
    await ticks(at);
    const accepted = await act(this.#seat, what);
    await idle(what, this.#driver, this.#seat);
    const journal = await this.#storage.read(id);
    assert.deepEqual(assertDelivered(journal, what), [], `${what}: something was left`);
    const turns = journal.filter((event) => event.type === "agent_end").length;
    return { said: saidIn(journal), accepted, turns };
  }

  /** How many microtasks pass from the moment at which the model may answer to the end of such a turn. */
  async end(queued: readonly string[]): Promise<number> {
    await this.#begin(queued);
    const seen = { end: false };
    const off = this.#driver.subscribe(({ type }) => void (seen.end ||= type === "agent_end"));
    this.#answer.resolve();
    let count = 0;
    for (; !seen.end && count < 10_000; count++) await undefined;
    off();
    await idle("without an offset", this.#driver, this.#seat);
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#driver.close(), this.#seat.close()]);
  }
}

interface Attempt {
  by: By;
  act: Act;
  queued?: string[];
  said(accepted: boolean): string[];
}

/** Gives the command at every offset. Returns the number of tries, of accepted commands, and of turns. */
async function everywhere({ by, act, queued = [], said: expected }: Attempt) {
  const counts = { tried: 0, accepted: 0, turns: new Map<number, number>() };
  for (const slow of STORES) {
    await using seats = new Seats(by, slow);
    await seats.warmUp();
    // A command takes some microtasks to reach the store, so most offsets lie before the end.
    const first = (await seats.end(queued)) - Math.round((MOMENTS[by] * 2) / 3);
    assert.ok(first >= 0, "the answer is too short");
    for (let at = first; at < first + MOMENTS[by]; at++) {
      const { said, accepted, turns } = await seats.turn(queued, at, act);
      assert.deepEqual(said, expected(accepted), `after ${at} ticks, with a store slower by ${slow}`);
      counts.tried += 1;
      counts.accepted += Number(accepted);
      counts.turns.set(turns, (counts.turns.get(turns) ?? 0) + 1);
    }
  }
  return counts;
}

/** There were commands before and after the end of the turn. */
function assertSome(count: number, { tried }: { tried: number }): void {
  assert.ok(count >= tried / 25 && count <= tried - tried / 25, `${count} of ${tried}`);
}

async function unlessTaken(command: Promise<void>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "NOT_PENDING");
    return false;
  }
}

for (const by of ["the driver", "another process"] as const) {
  const offsets = MOMENTS[by] * STORES.length;
  const whenever = `at any of ${offsets} moments around the end of a turn, by ${by},`;

  test(`steers ${whenever} are delivered once and in order, in that turn or in one of their own`, async () => {
    const act: Act = async (seat) => {
      await Promise.all(["a", "b"].map((content) => seat.steer({ content })));
      return true;
    };
    const counts = await everywhere({ by, act, said: () => ["first", "a", "b"] });
    assertSome(counts.turns.get(1) ?? 0, counts);
  });

  test(`follow-ups ${whenever} are delivered once and in order, each in its own turn, and answered`, async () => {
    const act: Act = async (seat, what) => {
      const [, answer] = await Promise.all([seat.followUp({ content: "a" }), seat.sendMessage({ content: "b" })]);
      assert.deepEqual([answer.reason, answer.message?.content], ["complete", [{ type: "text", text: ANSWER }]], what);
      return true;
    };
    const { turns } = await everywhere({ by, act, said: () => ["first", "a", "b"] });
    assert.deepEqual([...turns], [[3, offsets]]);
  });

  test(`an edit ${whenever} is delivered, or is refused`, async () => {
    const act: Act = (seat) => unlessTaken(seat.editInput({ inputId: "later", content: "edited" }));
    const said = (accepted: boolean) => ["first", accepted ? "edited" : "later"];
    const counts = await everywhere({ by, act, queued: ["later"], said });
    assertSome(counts.accepted, counts);
  });

  test(`a removal ${whenever} removes, or is refused`, async () => {
    const act: Act = (seat) => unlessTaken(seat.removeInput({ inputId: "later" }));
    const said = (accepted: boolean) => (accepted ? ["first"] : ["first", "later"]);
    const counts = await everywhere({ by, act, queued: ["later"], said });
    assertSome(counts.accepted, counts);
  });

  test(`an abort ${whenever} keeps queued inputs until resume()`, async () => {
    const act: Act = async (seat, what) => {
      await seat.abort();
      await quiet();
      const { status, inbox } = seat.getDisplayState();
      assert.deepEqual([status, await seat.listInbox()], ["idle", inbox], what);
      await seat.resume();
      return inbox.length > 0;
    };
    const counts = await everywhere({ by, act, queued: ["later"], said: () => ["first", "later"] });
    assertSome(counts.accepted, counts);
  });
}
