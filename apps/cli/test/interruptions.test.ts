import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { eventsOf, inherited, Place, type LedgerEntry } from "./cli.ts";
import { holding, release } from "./held-sleep.ts";
import { MAIN } from "./programs.ts";

const FULL = "/dev/full";

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

/** The process gets the signal a second time from itself: from outside, it would come too late when the machine is busy. */
const twice = (again: string): Record<string, string> => {
  const source = `process.once("SIGINT", () => { ${again}; process.once("SIGINT", () => console.error("again")); })`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
};
const AT_ONCE = twice(`process.kill(process.pid, "SIGINT")`);
/** Later than the time in which two count as one. */
const LATER = twice(`setTimeout(() => process.kill(process.pid, "SIGINT"), 250)`);

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

  test("after Ctrl-C, the command is printed that has a queued message answered", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 30 seconds"]);
    await running.prints(/→ wait/);
    const other = place.start(["run", "--continue", "--json", "what is 6*7?"]);
    await other.prints(/"type":"input_accepted"/, "stdout");
    running.child.kill("SIGINT");
    const { stderr } = await running.finished;
    const [, id] = /^1 queued and not answered yet; to have it answered: cinch run --thread (\w+)\naborted$/m.exec(
      stderr,
    )!;
    assert.doesNotMatch(stderr, /resume\(\)/);
    assert.equal((await other.finished).code, 130);
    assert.match((await place.run(["run", "--thread", id!])).stdout, /6\*7 = 42/);
  });

  test("a torture that a signal ends leaves neither folders nor processes behind", async () => {
    await using place = new Place();
    const running = place.start(["torture"], { env: { TMPDIR: place.folder } });
    await running.prints(/^ *1\/\d+ .* ok$/m, "stdout");
    running.child.kill("SIGTERM");
    assert.equal((await running.finished).code, 143);
    assert.deepEqual(
      readdirSync(place.folder).filter((name) => name.startsWith("cinch-torture-")),
      [],
    );
  });

  test("a Ctrl-C that arrives from the terminal and from npm counts once", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 30 seconds"], { env: AT_ONCE });
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
    const running = place.start(["run", "--continue"], { env: LATER });
    await running.prints(/following/);
    // A process that is stopped for five seconds counts as dead, and then the turn is aborted in its place.
    other.child.kill("SIGSTOP");
    running.child.kill("SIGINT");
    const { code, stderr } = await running.finished;
    assert.equal(code, 130);
    assert.match(stderr, /stopping/);
    assert.doesNotMatch(stderr, /\naborted\n/);
  });

  test("SIGTERM closes the run, and the next process continues the turn", async () => {
    await using place = new Place();
    const running = place.start(["run", "wait 0.7 seconds then what is 6*7?"], { env: holding({ ms: 700 }) });
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
    const held = holding({ ms: 7, nth: 20 });
    const running = place.start(["run", "tell me a story"], { env: { CINCH_OFFLINE_DELAY_MS: "7", ...held } });
    await running.prints(/Once/, "stdout");
    running.child.stdout.destroy();
    await once(running.child.stdout, "close");
    release(running);
    const { code, stderr } = await running.finished;
    assert.equal(code, 141);
    assert.doesNotMatch(stderr, /Error|^\s+at /m);
    const next = await place.run(["run", "--continue"]);
    assert.match(next.stdout, /here I do not know\.\n$/);
  });

  test(
    "a disk that is full under stdout is said, and is no reader that has gone",
    { skip: !existsSync(FULL) },
    async () => {
      await using place = new Place();
      await place.run(["run", "what is 3*7?"]);
      for (const args of [["threads", "list"], ["run", "--continue", "what is 6*7?"], ["--version"]]) {
        const { status, stderr } = spawnSync(
          "sh",
          ["-c", `exec "$@" > ${FULL}`, "sh", process.execPath, MAIN, ...args],
          {
            cwd: place.folder,
            env: { ...inherited(), HOME: place.home },
            encoding: "utf8",
          },
        );
        assert.equal(status, 1, stderr);
        assert.match(stderr, /^cinch: stdout can't be written: ENOSPC/m);
      }
    },
  );

  test("after kill -9 in the middle of a turn, --continue resumes it and no finished call runs again", async () => {
    await using place = new Place();
    const held = holding({ ms: 600, nth: 3 });
    const running = place.start(["run", "count to 4 slowly, then what is 6*7?"], { env: held });
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
    const driver = place.start(["run", "count to 5 slowly"], { env: holding({ ms: 600, nth: 2 }) });
    await driver.prints(/→ counter \{"number":1/);
    const following = place.start(["run", "--continue", "count to 2 slowly", "--json"]);
    await following.prints(/"input_accepted"/, "stdout");
    release(driver);
    const follower = await following.finished;
    assert.deepEqual([(await driver.finished).code, follower.code], [0, 0]);
    const ended = eventsOf(follower.stdout).flatMap(({ type, isError }) => (type === "tool_end" ? [isError] : []));
    assert.deepEqual(ended.slice(-5), [false, false, false, false, false]);
    const numbers = { 1: [2, 2], 2: [2, 2], 3: [1, 1], 4: [1, 1], 5: [1, 1] };
    assert.deepEqual(counted(place.ledgerEntries()), numbers);
  });
});
