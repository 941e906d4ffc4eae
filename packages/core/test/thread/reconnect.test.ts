import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore, newDisplayState, reduceDisplay, type HarnessEvent } from "@cinch/core";
import { displayAt, isDurable, settled, talk, talker } from "./reconnect-talk.ts";

test("after the turns, a client that reconnects from any seq gets the later events once, in order, and the same display", async () => {
  const storage = memoryStore();
  await using harness = talker(storage);
  const { id } = await harness.createThread();
  const first: HarnessEvent[] = [];
  harness.subscribe((event) => first.push(event));
  await talk(harness);
  await settled();
  const journal = await storage.read(id);
  assert.deepEqual(first.filter(isDurable), journal.slice(1), "a subscriber from the beginning gets every event once");
  const shown = harness.getDisplayState();
  for (let since = 0; since <= journal.length; since++) {
    const got: HarnessEvent[] = [];
    const off = harness.subscribe((event) => got.push(event), { since });
    await settled();
    off();
    assert.deepEqual(got, journal.slice(since), `since ${since}`);
    assert.deepEqual(got.reduce(reduceDisplay, displayAt(id, journal, since)), shown, `since ${since}`);
  }
});

/** A client that connects during a turn: the events that it got, and its display state. */
interface Late {
  since: number;
  joined: string;
  got: HarnessEvent[];
}

async function joinedAllOver(join: (attach: () => void) => void) {
  const storage = memoryStore();
  await using harness = talker(storage);
  const { id } = await harness.createThread();
  const late: Late[] = [];
  let seq = 1;
  const off = harness.subscribe((event) => {
    if (isDurable(event)) seq = event.seq;
    if (late.length > 3_000) return;
    const joined = `${late.length} at ${event.type} ${seq}`;
    join(() => {
      for (let since = 0; since <= harness.getDisplayState().seq; since++) {
        const client: Late = { since, joined, got: [] };
        late.push(client);
        harness.subscribe((next) => client.got.push(next), { since });
      }
    });
  });
  await talk(harness);
  off();
  await settled();
  return { late, id, journal: await storage.read(id), shown: harness.getDisplayState() };
}

function assertWhole({ late, id, journal, shown }: Awaited<ReturnType<typeof joinedAllOver>>): void {
  assert.ok(late.length > 500, `${late.length} clients came`);
  for (const { since, joined, got } of late) {
    const seqs = got.filter(isDurable).map((event) => event.seq);
    assert.deepEqual(
      seqs,
      journal.slice(since).map((event) => event.seq),
      `${joined}, since ${since}`,
    );
    assert.deepEqual(got.reduce(reduceDisplay, displayAt(id, journal, since)), shown, `${joined}, since ${since}`);
  }
}

test("a client that reconnects between any two events gets the later events once, in order", async () => {
  assertWhole(await joinedAllOver((attach) => queueMicrotask(attach)));
});

test("a client that reconnects while an event is delivered gets the later events once, in order", async () =>
  assertWhole(await joinedAllOver((attach) => attach())));

test("two sessions at one thread get the same events and display state", async () => {
  await using harness = talker();
  const { id } = await harness.createThread();
  const other = await harness.createSession({ threadId: id });
  const [mine, theirs]: HarnessEvent[][] = [[], []];
  harness.subscribe((event) => mine!.push(event));
  other.subscribe((event) => theirs!.push(event));
  await talk(harness);
  assert.deepEqual(theirs, mine);
  assert.equal(other.getDisplayState(), harness.getDisplayState());
});

test("after a rewind, a client that was beyond its target gets one resync, and any other client the events", async () => {
  const storage = memoryStore();
  await using harness = talker(storage);
  const { id } = await harness.createThread();
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => seen.push(event));
  await talk(harness);
  const before = await storage.read(id);
  const toSeq = before.find((event) => event.type === "agent_end")!.seq;
  await harness.rewind({ toSeq });
  await settled();
  const shown = harness.getDisplayState();
  assert.deepEqual(
    seen.filter((event) => event.type === "resync").map((event) => event.displayState),
    [shown],
    "a subscriber gets one resync",
  );
  const journal = await storage.read(id);
  for (let since = 0; since <= before.length; since++) {
    const got: HarnessEvent[] = [];
    const off = harness.subscribe((event) => got.push(event), { since });
    await settled();
    off();
    if (since > toSeq)
      assert.deepEqual(
        got.map((event) => event.type),
        ["resync"],
        `since ${since}`,
      );
    else
      assert.deepEqual(
        got,
        journal.filter((event) => event.seq > since),
        `since ${since}`,
      );
    const known = since > toSeq ? newDisplayState(id) : displayAt(id, journal, since);
    assert.deepEqual(got.reduce(reduceDisplay, known), shown, `since ${since}`);
  }
});
