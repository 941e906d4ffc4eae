import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { DurableEvent, Store } from "@cinch/core";
import type { EffectLine } from "../team/member-harness.ts";
import type { MemberProcess } from "../team/member-process.ts";
import { Team } from "../team/team.ts";
import { until } from "../../../postgres/test/until.ts";

const TIMES = 20;

/** The key of a call has its thread, and the `seq` of its start. */
function callOf({ key }: EffectLine): { threadId: string; seq: number } {
  const at = key.lastIndexOf(":");
  return { threadId: key.slice(0, at), seq: Number(key.slice(at + 1)) };
}

function lastEffect({ folder }: Team): EffectLine | undefined {
  if (!existsSync(`${folder}/effects`)) return undefined;
  const line = readFileSync(`${folder}/effects`, "utf8").trimEnd().split("\n").at(-1);
  return line ? (JSON.parse(line) as EffectLine) : undefined;
}

/**
 * A worker that has begun a call of at least 150 ms within the last 50 ms, so that it can't end its turn before the fault, and the thread of the call.
 * One that was stopped right before an effect begins it when it continues, but drives the thread no more.
 */
async function busyWorker(team: Team, store: Store): Promise<{ worker: MemberProcess; threadId: string }> {
  for (;;) {
    const line = lastEffect(team);
    const worker = team.members.find(({ pid }) => pid === line?.pid);
    const isLong = line?.tool === "once" || line?.tool === "idempotent";
    if (isLong && worker?.isAlive && Date.now() - line.at < 50) {
      const { threadId, seq } = callOf(line);
      const isReplaced = (await store.read(threadId, { after: seq })).some(isFirstAppend);
      if (!isReplaced) return { worker, threadId };
    }
    await pause(5);
  }
}

/** What a driver appends first when its predecessor died. If that was the third one, it parks the turn. */
const isFirstAppend = (event: DurableEvent): boolean =>
  (event.type === "agent_start" && event.takeover === true) || (event.type === "error" && event.code === "PARKED");

/** From the fault until the next driver's first append, in ms. */
async function gapAfter(team: Team, fault: "SIGKILL" | "SIGSTOP"): Promise<number> {
  const store = team.store();
  await store.open();
  try {
    const { worker, threadId } = await busyWorker(team, store);
    const at = Date.now();
    worker.signal(fault);
    let gap = 0;
    await until("a takeover", async () => {
      const events = await store.read(threadId);
      const taken = events.find((event) => event.at > at && isFirstAppend(event));
      gap = (taken?.at ?? 0) - at;
      return taken !== undefined;
    });
    if (fault === "SIGSTOP") worker.signal("SIGCONT");
    else await worker.start();
    return gap;
  } finally {
    await store.close();
  }
}

describe("how long a thread is without a driver", () => {
  for (const placement of ["restate", "graphile"] as const)
    for (const [fault, limit] of [
      ["SIGKILL", 2_000],
      ["SIGSTOP", 5_000],
    ] as const)
      test(`${placement}: at most ${limit} ms after ${fault}, ${TIMES} times`, { timeout: 600_000 }, async () => {
        await using team = await Team.start({ store: "postgres", placement, threads: 4 });
        const gaps: number[] = [];
        for (let nth = 0; nth < TIMES; nth++) gaps.push(await gapAfter(team, fault));
        const sorted = gaps.toSorted((a, b) => a - b);
        console.log(`${placement} ${fault}: p50 ${sorted[TIMES / 2]} ms, max ${sorted.at(-1)} ms`);
        const { problems } = await team.end(60_000);
        assert.deepEqual(problems, []);
        assert.ok(sorted.at(-1)! <= limit, sorted.join(", "));
      });
});
