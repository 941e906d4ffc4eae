import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sqliteStore } from "@cinch/sqlite";
import { crashPoints, playScenario, tortureAll, tortureHarness } from "@cinch/testkit";
import { inspectStore } from "../src/torture/oracle.ts";
import { bundle } from "./bundle.ts";

const folder = mkdtempSync(join(tmpdir(), "cinch-torture-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The types of all events of the scenario, in order, with those that the rewind removes. */
async function playedTypes(): Promise<string[]> {
  const store = sqliteStore({ path: join(folder, "cinch.db") });
  const h = tortureHarness(store, join(folder, "ledger"));
  await h.init();
  await playScenario(h, store, { accepted: () => undefined });
  await h.close();
  return inspectStore(folder).rows.map(({ event }) => event.type);
}

const LONGEST = 6;
/** How many events two kills are apart at least, so that the process between them makes progress. */
const APART = 10;
/** The scenario sends these commands beside a turn, so they have no fixed place among its events. */
const UNORDERED = ["input_removed", "input_edited"];

/**
 * Lists of points, so that one process runs to the end for several of them. A point follows another only if its type first occurs later:
 * then the earlier kill changes neither which occurrence the point means nor that it is reached.
 */
function inLists(points: readonly string[], types: readonly string[]): string[][] {
  const placed = points.map((point) => {
    const [type = "", , nth = "1"] = point.split(":");
    const places = types.flatMap((played, at) => (played === type ? [at] : []));
    return { point, type, first: places[0]!, at: places[Number(nth) - 1]! };
  });
  const ordered = placed.filter(({ type }) => !UNORDERED.includes(type)).toSorted((a, b) => a.first - b.first);
  const lists: (typeof placed)[] = [];
  for (const next of ordered) {
    const isFull = lists.length >= points.length / LONGEST;
    const free = lists.filter((list) => list.length < LONGEST && next.first - list.at(-1)!.at >= APART);
    const [list] = free.toSorted((a, b) => a.at(-1)!.at - b.at(-1)!.at);
    if (list && isFull) list.push(next);
    else lists.push([next]);
  }
  const alone = placed.filter(({ type }) => UNORDERED.includes(type)).map((one) => [one]);
  return [...lists, ...alone].map((list) => list.map(({ point }) => point));
}

test(
  "after a kill at any point, no accepted command is lost, no finished call runs twice, and the next process continues",
  { timeout: 600_000 },
  async () => {
    const points = crashPoints();
    const lists = inLists(points, await playedTypes());
    assert.deepEqual(lists.flat().toSorted(), points.toSorted());
    // For a tenth of the points the next process is killed too, just after its takeover.
    const twice = points.filter((_, at) => at % 10 === 0).map((point) => [point, "agent_start:after"]);
    const verdicts = await tortureAll([...lists, ...twice], {
      child: await bundle(new URL("../src/torture/child.ts", import.meta.url)),
    });
    assert.equal(verdicts.length, lists.length + twice.length);
    assert.deepEqual(
      verdicts.filter(({ problems }) => problems.length > 0),
      [],
    );
  },
);
