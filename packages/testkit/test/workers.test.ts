import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { Agent, Harness } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { script } from "@cinch/testkit";
import { bundle } from "./bundle.ts";
import { place } from "./place.ts";
import { stopBetweenCommits } from "./stop-process.ts";

const program = await bundle(new URL("./programs/finding-worker.ts", import.meta.url));
const THREADS = 3;
/** A driver that is stopped for so long is replaced. */
const STOPPED_MS = 1_500;
/** Longer than a busy machine pauses a process: a driver that is only slow must not be replaced. */
const PATIENT_MS = 30_000;

async function worker(folder: string, name: string, periodMs: number): Promise<ChildProcess> {
  const args = [program, folder, name, `${periodMs}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

/** A front in this process, and the turns of its threads. */
async function front(folder: string, periodMs: number) {
  const agent = new Agent({ name: "front", model: script() });
  const placement = { serve: async () => {}, wake: async () => {}, drain: async () => {} };
  const h = new Harness({
    id: "front",
    agent,
    storage: sqliteStore({ path: join(folder, "cinch.db"), renewMs: 200, periodMs }),
    placement,
  });
  await h.init();
  const sessions = await Promise.all(Array.from({ length: THREADS }, () => h.createSession()));
  for (const session of sessions) await session.createThread();
  const turns = sessions.map((session) => session.sendMessage({ content: "go" }));
  return { h, sessions, turns };
}

const runsOf = (ledger: readonly string[]) => ledger.map((line) => line.split(" ")[1]!);

async function filled(ledger: () => readonly string[], count: number): Promise<void> {
  while (ledger().length < count) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("workers in processes of their own", { concurrency: true }, () => {
  for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
    test(`without an engine, other workers find the turns of one that gets ${signal}, and no tool runs twice`, async () => {
      await using at = await place();
      const first = await worker(at.folder, "first", STOPPED_MS);
      const { h, turns } = await front(at.folder, STOPPED_MS);
      await filled(at.ledger, THREADS);
      const second = await worker(at.folder, "second", STOPPED_MS);
      if (signal === "SIGSTOP") stopBetweenCommits(first.pid!, join(at.folder, "cinch.db"));
      else first.kill(signal);
      const reasons = (await Promise.all(turns)).map(({ reason }) => reason);
      assert.deepEqual([...new Set(reasons)], ["complete"]);
      if (signal === "SIGSTOP") first.kill("SIGCONT");
      const runs = runsOf(at.ledger());
      assert.equal(new Set(runs).size, runs.length);
      await h.close();
      for (const child of [first, second]) child.kill("SIGKILL");
    });
  }

  test("a worker that gets SIGTERM ends no call, and its turns go on in another process", async () => {
    await using at = await place();
    const first = await worker(at.folder, "first", PATIENT_MS);
    const { h, turns, sessions } = await front(at.folder, PATIENT_MS);
    await filled(at.ledger, THREADS);
    const second = await worker(at.folder, "second", PATIENT_MS);
    const ended = once(first, "exit");
    first.kill("SIGTERM");
    assert.deepEqual((await ended)[0], 0);
    assert.deepEqual([...new Set((await Promise.all(turns)).map(({ reason }) => reason))], ["complete"]);
    const runs = runsOf(at.ledger());
    assert.deepEqual([runs.length, new Set(runs).size], [4 * THREADS, 4 * THREADS]);
    const events = (await Promise.all(sessions.map((session) => session.listEvents({ limit: 1_000 })))).flat();
    assert.equal(
      events.some((event) => event.type === "tool_end" && event.isError),
      false,
    );
    assert.equal(
      events.some((event) => event.type === "agent_start" && event.takeover),
      false,
    );
    await h.close();
    second.kill("SIGKILL");
  });
});
