import assert from "node:assert/strict";
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { lift } from "@cinch/core/journal";
import type { DurableEvent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { mainThread, playScenario, tortureHarness } from "@cinch/testkit";
import { newFolds, reduceAll } from "../packages/core/src/folds/folds.ts";
import { parseFolds, printFolds } from "../packages/core/src/folds/print.ts";
import { shareOf } from "../packages/testkit/test/share.ts";
import { displayOf } from "./fixture.ts";

const noPause = () => Promise.resolve();
/** Every so many saved folds are folded to the end of their journal. */
const TO_THE_END = 16;

/** Journals of releases. They must open in every later release, with everything that is pending in them. */
const fixtures = globSync("fixtures/*/*.db", { cwd: import.meta.dirname }).toSorted((a, b) =>
  a.localeCompare(b, "en", { numeric: true }),
);
/** Each kind of journal, of every third release that has it. */
const some = new Set(shareOf(fixtures, 3));
/** Continuing one takes seconds. A release has sixteen kinds, so a step of five comes to all of them. */
const continued = new Set(shareOf(fixtures, 5));

test("there are fixtures", () => {
  assert.ok(fixtures.length > 0);
});

// Side by side, because most of them wait until the lease of another machine has expired. Each has a thread for its store.
describe("a journal of a release", { concurrency: 8 }, () => {
  for (const fixture of fixtures) {
    const path = join(import.meta.dirname, fixture);
    test(`${fixture} has the display state that it had when it was written`, async () => {
      // A later release may add fields.
      assert.partialDeepStrictEqual(
        await displayOf(path),
        JSON.parse(readFileSync(path.replace(/db$/, "json"), "utf8")),
      );
    });

    if (some.has(fixture)) testFolds(fixture, path);
    if (continued.has(fixture)) testContinued(fixture, path);
  }
});

function testFolds(fixture: string, path: string): void {
  test(`${fixture} folds to the same state from any saved fold`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
    const store = sqliteStore({ path: join(folder, "cinch.db") });
    try {
      copyFileSync(path, join(folder, "cinch.db"));
      await store.open();
      for (const { id } of await store.threads()) {
        const events = (await store.read(id)).map((event) => lift(event));
        const ownFrom = events.findLastIndex(({ type }) => type === "thread_cloned") + 1;
        const all = [newFolds(id)];
        for (const event of events) all.push(reduceAll(all.at(-1)!, [event]));
        for (const [at, folds] of all.entries()) {
          const restored = await parseFolds(await printFolds(folds, noPause), noPause);
          // By induction the next state is enough, but in what a clone has inherited: there, children are those of another thread. Some
          // are folded to the end, in case a later event reads what no comparison shows.
          const next = at % TO_THE_END === 0 ? events.length : Math.max(at + 1, ownFrom);
          const until = Math.min(next, events.length);
          assert.deepStrictEqual(reduceAll(restored, events.slice(at, until)), all[until]);
        }
      }
    } finally {
      await store.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    }
  });
}

function testContinued(fixture: string, path: string): void {
  test(`${fixture} can be continued to the end, and no finished call runs again`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
    try {
      copyFileSync(path, join(folder, "cinch.db"));
      writeFileSync(join(folder, "ledger"), "");
      const store = sqliteStore({ path: join(folder, "cinch.db") });
      const h = tortureHarness(store, join(folder, "ledger"));
      await h.init();
      const before = await Promise.all((await h.listThreads()).map(({ id }) => store.read(id)));
      const done = before.flatMap(finished);
      await mainThread(h);
      await playScenario(h, store, { accepted: () => undefined });
      const { status, messages } = h.getDisplayState();
      assert.deepEqual([status, messages.at(-1)?.content], ["idle", [{ type: "text", text: "cloned" }]]);
      await mainThread(h);
      assert.deepEqual(controlOf(h), finalControl);
      const isForbidden = h.getPermissionRules().some((rule) => "toolName" in rule && rule.toolName === "forbidden");
      await h.close();
      const runs = readFileSync(join(folder, "ledger"), "utf8").split("\n");
      assert.deepEqual(
        runs.filter((run) => done.includes(run.split(" ")[1]!) || DECLINED.test(run)),
        [],
      );
      assert.equal(isForbidden && runs.some((run) => run.startsWith("forbidden")), false);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
    }
  });
}

const newest = fixtures.filter((fixture) => dirname(fixture) === dirname(fixtures.at(-1)!));

describe("a journal to which a newer release has added", { concurrency: 8 }, () => {
  for (const fixture of newest)
    test(`${fixture} shows what it showed, and is left to newer releases`, async () => {
      const path = join(import.meta.dirname, fixture);
      const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
      const copy = join(folder, "cinch.db");
      try {
        copyFileSync(path, copy);
        const store = sqliteStore({ path: copy });
        await store.open();
        const lengths = new Map<string, number>();
        for (const { id } of await store.threads()) {
          const [last] = await store.read(id, { last: true, limit: 1 });
          const event = { type: "weather_changed", v: 1, at: Date.now(), sky: "grey" } as never;
          await store.append(id, [event], { afterSeq: last!.seq });
          lengths.set(id, last!.seq + 1);
        }
        await store.close();
        const { title, messages, tokenUsage } = await displayOf(copy);
        const before = JSON.parse(readFileSync(path.replace(/db$/, "json"), "utf8")) as Record<string, unknown>;
        assert.partialDeepStrictEqual(
          { title, messages, tokenUsage },
          { title: before["title"], messages: before["messages"], tokenUsage: before["tokenUsage"] },
        );
        writeFileSync(join(folder, "ledger"), "");
        const opened = sqliteStore({ path: copy });
        const h = tortureHarness(opened, join(folder, "ledger"));
        await h.init();
        await mainThread(h);
        await assert.rejects(h.settled(), { code: "STORE_NEWER" });
        await assert.rejects(h.sendMessage({ content: "go" }), { code: "STORE_NEWER" });
        for (const [id, length] of lengths) assert.equal((await opened.read(id)).at(-1)!.seq, length);
        await h.close();
        assert.equal(readFileSync(join(folder, "ledger"), "utf8"), "");
      } finally {
        rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
      }
    });
});

/** The arguments that were declined or edited. */
const DECLINED = /to be changed|rather not|no more/;

/** The keys of calls that have ended. */
function finished(events: readonly DurableEvent[]): string[] {
  return events.flatMap((event, at) => {
    if (event.type !== "tool_end") return [];
    const started = (one: DurableEvent) => one.type === "tool_start" && one.toolCallId === event.toolCallId;
    const start = events.slice(0, at).findLast(started);
    return start?.type === "tool_start" ? [start.key] : [];
  });
}

/** The settings that the scenario changes. */
const controlOf = (h: Harness) => ({
  modeId: h.getCurrentModeId(),
  modelId: h.getCurrentModelId(),
  yolo: h.getState().yolo,
  grants: h.getSessionGrants(),
  tasks: h.getDisplayState().tasks.map(({ content, status }) => `${content}: ${status}`),
});

const finalControl = {
  modeId: "build",
  modelId: "scripted/another",
  yolo: true,
  grants: [{ toolName: "guarded", match: "for ever", policy: "allow" }],
  tasks: ["Plan it: completed", "Build it: in_progress"],
};
