import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import type { HarnessConfig, Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { tortureHarness } from "@cinch/testkit";
import { Engine } from "../packages/core/test/workers/engine.ts";
import { eventually } from "../packages/core/test/workers/team.ts";

/** As in a container that is started again: whether the process still lives shows only after a while. */
function leaveMachine(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("UPDATE holders SET boot = 'another'");
  db.close();
}

/** Opens a copy of a journal of 0.7.0, which did not tell the store which threads are awake, until no thread is. Returns what it appends. */
async function appendedWith(options: Recovering, fixture: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
  const path = join(folder, "cinch.db");
  copyFileSync(new URL(`./fixtures/0.7.0/${fixture}.db`, import.meta.url), path);
  leaveMachine(path);
  writeFileSync(join(folder, "ledger"), "");
  const store = sqliteStore({ path });
  const h = tortureHarness(store, join(folder, "ledger"), options);
  try {
    await store.open();
    const [thread] = await store.threads({ active: true, topLevel: true });
    const before = (await store.read(thread!.id)).length;
    assert.equal(await unsettled(store), 1);
    await store.close();
    await h.init();
    await eventually(async () => (await unsettled(store)) === 0);
    return (await store.read(thread!.id)).slice(before).map(({ type }) => type);
  } finally {
    await h.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  }
}

/** How many threads are awake, or have a driver that may live. */
async function unsettled(store: Store): Promise<number> {
  const { awake, driven } = await store.load();
  return awake + driven;
}

type Recovering = Pick<HarnessConfig, "recover" | "placement" | "worker">;

const recovering: [string, () => Recovering][] = [
  ['recover: "all"', () => ({ recover: "all" })],
  ["workers", () => ({ placement: new Engine().placement(), worker: {} })],
];

describe("after an upgrade from 0.7.0", { concurrency: 4 }, () => {
  for (const [name, options] of recovering) {
    test(`a turn that was cut off is continued with ${name}, although no session opens its thread`, async () => {
      const appended = await appendedWith(options(), "cut-off-in-a-tool");
      assert.equal(appended.at(-1), "tool_suspended");
    });

    test(`a turn that waits for a person waits on with ${name}, and its thread is looked at once`, async () => {
      assert.deepEqual(await appendedWith(options(), "waiting"), []);
    });
  }
});
