import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { crashPoints, playScenario, tortureAll, tortureHarness } from "@cinch/testkit";
import { inspectStore } from "../src/torture/oracle.ts";
import { bundle } from "./bundle.ts";
import { shareOf } from "./share.ts";

const folder = mkdtempSync(join(tmpdir(), "cinch-torture-test-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

/** The types of all events of the scenario, in order, with those that the rewind removes. */
async function playedTypes(): Promise<string[]> {
  const store = sqliteStore({ path: join(folder, "cinch.db") });
  const h = tortureHarness(store, join(folder, "ledger"));
  await h.init();
  await playScenario(h, store, { accepted: () => undefined });
  await h.close();
  return inspectStore(folder).rows.map(({ event }) => event.type);
}

const LONGEST = 8;
/** How many events two kills are apart at least, so that the process between them makes progress. */
const APART = 10;
/** The scenario sends these commands beside a turn, so they have no fixed place among its events. */
const UNORDERED = ["input_removed", "input_edited"];
/** What it sends next: that turn waits for it. */
const ORDERED_FROM = "tool_resumed";
/** Kills the next process too, just after its takeover. */
const TAKEOVER = "agent_start:after";
/** This happens after one point of so many. */
const TWICE_EVERY = 10;

/**
 * Lists of points, so that one process runs to the end for several of them. A point follows another only if its type first occurs later:
 * then the earlier kill changes neither which occurrence the point means nor that it is reached.
 */
function inLists(points: readonly string[], types: readonly string[]): string[][] {
  const placed = points.map((point, index) => {
    const [type = "", , nth = "1"] = point.split(":");
    const places = types.flatMap((played, at) => (played === type ? [at] : []));
    const isOrdered = !UNORDERED.includes(type);
    const at = isOrdered ? places[Number(nth) - 1]! : types.indexOf(ORDERED_FROM);
    const kills = index % TWICE_EVERY === 0 ? [point, TAKEOVER] : [point];
    // Between turns, the next process starts a turn instead of continuing one.
    const last = kills.length > 1 ? types.indexOf("agent_start", at + 1) : at;
    return { kills, first: isOrdered ? places[0]! : 0, last: last < 0 ? types.length : last };
  });
  const lists: (typeof placed)[] = [];
  for (const next of placed.toSorted((a, b) => a.first - b.first)) {
    const isFull = lists.length >= points.length / LONGEST;
    const free = lists.filter((list) => list.length < LONGEST && next.first - list.at(-1)!.last >= APART);
    // The one that got farthest: the others end before the second half of the scenario, and skip it.
    const [list] = free.toSorted((a, b) => b.at(-1)!.last - a.at(-1)!.last);
    if (list && isFull) list.push(next);
    else lists.push([next]);
  }
  return lists.map((list) => list.flatMap(({ kills }) => kills));
}

test(
  "after a kill at any point, no accepted command is lost, no finished call runs twice, and the next process continues",
  { timeout: 600_000 },
  async () => {
    // Of the four positions of an event, another one or two for each: `npm run test:whole` kills at all of them.
    const points = shareOf(crashPoints(), 3);
    const events = (of: readonly string[]) => [...new Set(of.map((point) => point.split(":")[0]))];
    assert.deepEqual(events(points), events(crashPoints()));
    const lists = inLists(points, await playedTypes());
    // For a tenth of the points the next process is killed too.
    const twice = points.filter((_, at) => at % TWICE_EVERY === 0).map(() => TAKEOVER);
    assert.deepEqual(lists.flat().toSorted(), [...points, ...twice].toSorted());
    const verdicts = await tortureAll(lists, {
      child: await bundle(new URL("../src/torture/child.ts", import.meta.url)),
      // Generous: the oracle looks for wrong results here, and a busy machine may be slow.
      endMs: 120_000,
      settleMs: 30_000,
    });
    assert.equal(verdicts.length, lists.length);
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
