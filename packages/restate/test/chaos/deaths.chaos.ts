import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { MortalPostgres } from "../../../postgres/test/mortal-postgres.ts";
import type { DeathChecks } from "../deaths/death-check.ts";
import { networkDeaths } from "../deaths/network-deaths.ts";
import { processDeaths } from "../deaths/process-deaths.ts";
import { postgresDeaths, restateDeaths } from "../deaths/server-deaths.ts";
import { MortalRestate } from "../mortal-restate.ts";

/** On a busy machine all takes longer. The numbers of the page itself are shown by `chaos/takeover.chaos.ts`. */
const PATIENCE = 10;

interface Row {
  what: string;
  /** In milliseconds, if the page has a limit. */
  within: number | undefined;
}

/** The table of the page. */
function rows(): Row[] {
  const page = readFileSync(new URL("../../../../docs/running-many.md", import.meta.url), "utf8");
  const section = page.split("\n## When a part dies\n")[1]?.split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(1).map((line) => {
    const [, what = "", , within = ""] = line.split("|").map((cell) => cell.trim());
    const [, seconds] = /^([\d.]+) s\b/.exec(within) ?? [];
    return { what, within: seconds === undefined ? undefined : 1_000 * Number(seconds) };
  });
}

const table = rows();
const restate = new MortalRestate();
const postgres = new MortalPostgres();
const groups: { title: string; concurrency: boolean; checks: DeathChecks }[] = [
  { title: "a process, or what lies between", concurrency: true, checks: { ...processDeaths, ...networkDeaths } },
  { title: "Restate", concurrency: false, checks: restateDeaths(restate) },
  { title: "Postgres", concurrency: false, checks: postgresDeaths(postgres) },
];

test("each row of the page has a check here, and each check a row", () => {
  const checked = groups.flatMap(({ checks }) => Object.keys(checks));
  assert.deepEqual(checked.toSorted(), table.map(({ what }) => what).toSorted());
});

describe("when a part dies", { concurrency: true }, () => {
  before(() => postgres.start());
  after(() => Promise.all([restate[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()]));
  for (const { title, concurrency, checks } of groups)
    describe(title, { concurrency }, () => {
      for (const { what, within } of table) {
        const check = checks[what];
        if (!check) continue;
        test(what, async (t) => {
          const ms = await check();
          if (within === undefined) return;
          assert.ok(ms !== undefined, "The page has a limit, and the check measures nothing.");
          t.diagnostic(`${Math.round(ms)} ms`);
          assert.ok(ms < PATIENCE * within, `after ${ms} ms`);
        });
      }
    });
});
