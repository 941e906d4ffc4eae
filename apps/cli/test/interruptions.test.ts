import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, test } from "node:test";
import { eventsOf, Place, type LedgerEntry } from "./cli.ts";

/** For each number, how often the counter began and ended. */
function counted(entries: readonly LedgerEntry[]): Record<string, [begun: number, ended: number]> {
  const numbers: Record<string, [number, number]> = {};
  for (const { what, tool, args } of entries) {
    if (tool !== "counter") continue;
    const number = (numbers[String(args["number"])] ??= [0, 0]);
    number[what === "begin" ? 0 : 1]++;
  }
  return numbers;
}

/** The process gets each signal a second time from itself: from outside, it would come too late when the machine is busy. */
const again = `process.once("SIGINT", () => { process.kill(process.pid, "SIGINT"); process.once("SIGINT", () => console.error("again")); })`;
const TWICE = `--import=data:text/javascript,${encodeURIComponent(again)}`;

describe("interruptions of a run", { concurrency: 4 }, () => {
  test("Ctrl-C aborts the turn and exits with 130, and the thread can be continued", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 30 seconds"]);
    await running.prints(/→ wait/);
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    assert.equal(code, 130);
    assert.match(stderr, /stopping … \(press Ctrl-C again to exit at once\)\n✗ wait: .*\naborted\n/);
    const next = await place.run(["run", "--continue", "what did I say first?"]);
    assert.deepEqual([next.code, next.stdout], [0, 'First you said: "wait 30 seconds"\n']);
    assert.doesNotMatch(next.stderr, /recovered/);
  });

  test("a Ctrl-C that arrives from the terminal and from npm counts once", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 30 seconds"], { env: { NODE_OPTIONS: TWICE } });
    await running.prints(/→ wait/);
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    assert.equal(code, 130);
    assert.match(stderr, /^again$[^]*\naborted\n/m);
  });

  test("a second Ctrl-C exits at once, even if the turn can't be aborted", async () => {
    await using place = new Place();
    const other = place.start(["run", "wait 30 seconds"]);
    await other.prints(/→ wait/);
    other.child.kill("SIGSTOP");
    const running = place.start(["run", "--continue"]);
    await running.prints(/following/);
    running.child.kill("SIGINT");
    await running.prints(/stopping/);
    await sleep(250);
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    assert.equal(code, 130);
    assert.doesNotMatch(stderr, /\naborted\n/);
  });

  test("SIGTERM closes the run, and the next process continues the turn", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 0.7 seconds then what is 6*7?"]);
    await running.prints(/→ wait/);
    running.child.kill("SIGTERM");
    const { code, stderr } = await running.finished;
    assert.equal(code, 143);
    assert.match(stderr, /closed; the turn is kept/);
    const next = await place.run(["run", "--continue"]);
    assert.deepEqual([next.code, next.stdout], [0, "I waited for 0.7 s. 6*7 = 42.\n"]);
    assert.match(next.stderr, /^recovered: this turn was left unfinished; kept: 2 messages/m);
  });

  test("a closed stdout ends the run without an error, and nothing is lost", async () => {
    await using place = new Place();
    const running = place.start(["run", "tell me a story"], { env: { CINCH_OFFLINE_DELAY_MS: "5" } });
    await running.prints(/Once/, "stdout");
    running.child.stdout.destroy();
    const { code, stderr } = await running.finished;
    assert.equal(code, 141);
    assert.doesNotMatch(stderr, /Error|^\s+at /m);
    const next = await place.run(["run", "--continue"]);
    assert.match(next.stdout, /here I do not know\.\n$/);
  });

  test("after kill -9 in the middle of a turn, --continue resumes it and no finished call runs again", async () => {
    await using place = new Place();
    const running = place.start(["run", "count to 4 slowly, then what is 6*7?"]);
    await running.prints(/→ counter \{"number":3/);
    running.child.kill("SIGKILL");
    assert.equal((await running.finished).signal, "SIGKILL");
    const next = await place.run(["run", "--continue", "what did I say first?"]);
    assert.equal(next.code, 0, next.stderr);
    assert.match(
      next.stderr,
      /^recovered: the process of this turn died; kept: 4 messages, 2 tool results of this turn/m,
    );
    assert.match(next.stderr, /^\? counter: outcome unknown/m);
    const answer = "I counted 1, 2, 3 (outcome unknown: it was interrupted, and I did not repeat it), 4. 6*7 = 42.";
    assert.equal(next.stdout, `${answer}\nFirst you said: "count to 4 slowly, then what is 6*7?"\n`);
    const { 3: cut, ...whole } = counted(place.ledgerEntries());
    assert.deepEqual(whole, { 1: [1, 1], 2: [1, 1], 4: [1, 1] });
    assert.ok(cut === undefined || (cut[0] === 1 && cut[1] === 0));
  });

  test("a run follows the process that drives its thread, and its own prompt is answered afterwards", async () => {
    await using place = new Place();
    // Takes long enough for the other process to start, even on a busy machine.
    const driver = place.start(["run", "count to 12 slowly"]);
    await driver.prints(/→ counter \{"number":1/);
    const follower = await place.run(["run", "--continue", "count to 2 slowly", "--json"]);
    assert.deepEqual([(await driver.finished).code, follower.code], [0, 0]);
    const ended = eventsOf(follower.stdout).flatMap(({ type, isError }) => (type === "tool_end" ? [isError] : []));
    assert.deepEqual(ended.slice(-5), [false, false, false, false, false]);
    const once = Array.from({ length: 10 }, (_, at) => [at + 3, [1, 1]]);
    assert.deepEqual(counted(place.ledgerEntries()), { 1: [2, 2], 2: [2, 2], ...Object.fromEntries(once) });
  });
});
