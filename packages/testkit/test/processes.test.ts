import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { bestOfThree } from "./best-of-three.ts";
import { bundle } from "./bundle.ts";
import { ofType, place } from "./place.ts";
import { stopBetweenCommits } from "./stop-process.ts";

const program = await bundle(new URL("./programs/sender.ts", import.meta.url));

/** Longer than a busy machine pauses a process: a driver that is only slow must not be replaced. */
const PATIENT_MS = 30_000;
/** A driver that is stopped for so long is replaced. */
const STOPPED_MS = 1_500;

interface Sender {
  process: ChildProcess;
  /** Settles when the process has printed an object with this key. */
  printed(key: string): Promise<Record<string, unknown>>;
  ended: Promise<{ lines: Record<string, unknown>[]; errors: string }>;
}

interface SenderOptions {
  name: string;
  inputId: string;
  periodMs?: number;
  /** The file for which its tool waits. */
  gate?: string;
}

function startSender(folder: string, { name, inputId, periodMs = PATIENT_MS, gate }: SenderOptions): Sender {
  const args = [program, folder, name, inputId, `${periodMs}`, ...(gate === undefined ? [] : [gate])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const lines: Record<string, unknown>[] = [];
  const waiting: { key: string; resolve(line: Record<string, unknown>): void }[] = [];
  let rest = "";
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts.map((text) => JSON.parse(text) as Record<string, unknown>)) {
      lines.push(line);
      for (const { key, resolve } of waiting) if (key in line) resolve(line);
    }
  });
  const printed = (key: string) =>
    new Promise<Record<string, unknown>>((resolve) => {
      const known = lines.find((line) => key in line);
      if (known) resolve(known);
      else waiting.push({ key, resolve });
    });
  const ended = new Promise<{ lines: Record<string, unknown>[]; errors: string }>((resolve) =>
    child.on("close", () => resolve({ lines, errors })),
  );
  return { process: child, printed, ended };
}

test("when eight processes race for one thread, every message is answered once, by one driver at a time", async () => {
  await using at = await place();
  const names = Array.from({ length: 8 }, (_, n) => `order-${n}`);
  const senders = names.map((name) => startSender(at.folder, { name, inputId: name }));
  const ends = await Promise.all(senders.map(({ ended }) => ended));
  assert.deepEqual(ends.map(({ errors }) => errors).filter(Boolean), []);
  assert.deepEqual(
    ends.map(({ lines }) => lines.at(-1)),
    names.map((name) => ({ name, reason: "complete", said: [{ type: "text", text: `${name} said` }] })),
  );
  assert.deepEqual(at.ledger().toSorted(), names);
  const events = await at.journal();
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, n) => n + 1),
  );
  assert.deepEqual(
    ofType(events, "input_taken")
      .map(({ inputId }) => inputId)
      .toSorted(),
    names,
  );
  const turns = events.filter(({ type }) => type === "agent_start" || type === "agent_end").map(({ type }) => type);
  const starts = ofType(events, "agent_start").filter(({ resumed }) => !resumed);
  assert.equal(starts.length, 8);
  assert.equal(turns.at(-1), "agent_end");
});

test("the same command from three processes is accepted once, and all three get its answer", async () => {
  await using at = await place();
  const senders = ["a", "b", "c"].map((name) => startSender(at.folder, { name, inputId: "the-one-order" }));
  const ends = await Promise.all(senders.map(({ ended }) => ended));
  const said = [{ type: "text", text: "the-one-order said" }];
  assert.deepEqual(
    ends.map(({ lines }) => lines.at(-1)),
    ["a", "b", "c"].map((name) => ({ name, reason: "complete", said })),
  );
  assert.deepEqual(at.ledger(), ["the-one-order"]);
  assert.equal(ofType(await at.journal(), "input_accepted").length, 1);
});

test("a stopped driver is replaced, and its appends are refused when it continues", async () => {
  await using at = await place();
  const stopped = startSender(at.folder, { name: "stopped", inputId: "first", gate: "go" });
  await stopped.printed("ran");
  stopBetweenCommits(stopped.process.pid!, join(at.folder, "cinch.db"));
  const healthy = startSender(at.folder, { name: "healthy", inputId: "second", periodMs: STOPPED_MS });
  const { lines } = await healthy.ended;
  assert.ok(lines.some((line) => "tookOver" in line));
  assert.deepEqual(lines.at(-1), {
    name: "healthy",
    reason: "complete",
    said: [{ type: "text", text: "second said" }],
  });
  // Its call ends as soon as it continues.
  writeFileSync(join(at.folder, "go"), "");
  stopped.process.kill("SIGCONT");
  const woken = await stopped.ended;
  assert.equal(woken.errors, "");
  assert.deepEqual(woken.lines.at(-1), {
    name: "stopped",
    reason: "complete",
    said: [{ type: "text", text: "first said" }],
  });
  assert.deepEqual(at.ledger(), ["first", "second"]);
  const events = await at.journal();
  assert.deepEqual(
    ofType(events, "tool_end").map(({ unknown = false, result }) => [unknown, result.content]),
    [
      [true, "The process died while this ran. Its outcome is unknown: verify before retrying."],
      [false, "second done"],
    ],
  );
  assert.equal(ofType(events, "agent_end").length, 2);
});

test("a driver that is killed is replaced within 5 s", async () => {
  await bestOfThree(5_000, async () => {
    await using at = await place();
    const killed = startSender(at.folder, { name: "killed", inputId: "first", gate: "never" });
    await killed.printed("ran");
    const waiting = startSender(at.folder, { name: "waiting", inputId: "second" });
    await waiting.printed("ready");
    const since = performance.now();
    killed.process.kill("SIGKILL");
    await waiting.printed("tookOver");
    const ms = performance.now() - since;
    assert.equal((await waiting.ended).lines.at(-1)?.["reason"], "complete");
    return ms;
  });
});
