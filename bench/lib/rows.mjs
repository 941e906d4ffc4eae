/**
 * The rows of the table: the scenarios of each, the peers that run beside it, and its targets. `needs`: rows whose runs it
 * also uses. `judge` gets `us(key)` and `peer(name, key)`, which return medians over the repetitions, and returns lines of
 * { measured, target, ok }. `ok` is undefined if there is no target, or if the peer of the target was not measured.
 */
import { atMost, line } from "./lines.mjs";
import { show, show1024 } from "./numbers.mjs";
import { liveRows } from "./live-rows.mjs";
import { postgresRows } from "./postgres-rows.mjs";
import { servingRows } from "./serving-rows.mjs";

/** `peer` is undefined if it was not measured. */
const share = (us, peer, limit, name) => {
  if (!Number.isFinite(peer)) return line(`${name} not measured`, `at most ${show(limit)} × ${name}`, undefined);
  return line(`${show(us / peer)} × ${name} (${show(peer)})`, `at most ${show(limit)} × ${name}`, us <= limit * peer);
};

/** Relative to the same measurement at a thousand events. */
const times = (value, base, limit, unit, what) =>
  line(
    `${what}${show(value)}${unit}, ${show(value / base)} × 1,000 events`,
    `${what}at most ${show(limit)} × 1,000 events`,
    value <= limit * base,
  );

export const rows = [
  {
    name: "20,000 text deltas",
    beside: ["ai7"],
    runs: [{ key: "deltas", scenario: "deltas", parameters: { n: 20_000 } }],
    judge: ({ us, peer }) => [
      atMost(us("deltas").usPerDelta, 6, " µs a delta"),
      share(us("deltas").usPerDelta, peer("ai7", "deltas").usPerDelta, 1 / 5, "ai 7"),
    ],
  },
  {
    name: "400 steps, small results",
    beside: ["pi-jsonl", "pi"],
    runs: [{ key: "steps", scenario: "steps", parameters: { n: 400 } }],
    judge: ({ us, peer }) => stepLines(us("steps"), peer("pi", "steps"), peer("pi-jsonl", "steps")),
  },
  {
    name: "400 steps, 2 KB results",
    beside: ["pi-jsonl", "pi"],
    runs: [{ key: "steps2k", scenario: "steps", parameters: { n: 400, resultBytes: 2048 } }],
    judge: ({ us, peer }) => [
      ...stepLines(us("steps2k"), peer("pi", "steps2k"), peer("pi-jsonl", "steps2k")),
      line(
        `file grows by ${show(us("steps2k").growth)} × arguments + results`,
        "at most 4 ×, search index included",
        us("steps2k").growth <= 4,
      ),
      line(`${show(us("steps2k").growthWhileOpen)} × while it is open, with its log`, "", undefined),
    ],
  },
  {
    name: "500 short turns",
    beside: ["pi"],
    runs: [{ key: "turns", scenario: "turns", parameters: { n: 500 }, next: ["reopen"] }],
    judge: ({ us }) => [
      atMost(us("turns").atEndMs, 5, " ms", "turn 500: "),
      line(
        `${show(us("turns").atEndMs / us("turns").at10Ms)} × turn 10 (${show(us("turns").at10Ms)} ms)`,
        "at most 1.5 × turn 10",
        us("turns").atEndMs <= 1.5 * us("turns").at10Ms,
      ),
    ],
  },
  {
    name: "opening a thread, after import",
    needs: ["500 short turns"],
    beside: ["pi"],
    runs: [
      { key: "long", scenario: "long", parameters: { events: 10_000 }, next: ["reopen", "clone"], only: "cinch" },
      { key: "short", scenario: "long", parameters: { events: 100 }, next: ["clone"], only: "cinch" },
      { key: "thousand", scenario: "written", parameters: { events: 1_000 }, next: ["reopen"], only: "cinch" },
      { key: "million", scenario: "written", parameters: { events: 1_000_000 }, next: ["reopen"], only: "cinch" },
    ],
    judge: ({ us, peer }) => [
      atMost(us("turns.reopen").openMs, 30, " ms", "500 turns: "),
      share(us("turns.reopen").openMs, peer("pi", "turns.reopen").openMs, 0.8, "pi on SQLite"),
      atMost(us("long.reopen").openMs, 60, " ms", "10,000 events: "),
      times(us("million.reopen").openMs, us("thousand.reopen").openMs, 2, " ms", "1,000,000 events: "),
      times(us("million.reopen").heapMB, us("thousand.reopen").heapMB, 1.1, " MB", "memory with 1,000,000 events: "),
      line(
        `the first time, without saved folds: ${show(us("million").firstMs)} ms, 1,000 events ${show(us("thousand").firstMs)} ms`,
        "",
        undefined,
      ),
    ],
  },
  {
    name: "cloning a thread",
    needs: ["opening a thread, after import"],
    beside: [],
    runs: [],
    judge: ({ us }) => [
      atMost(us("short.clone").cloneMs, 5, " ms", "100 events: "),
      atMost(us("long.clone").cloneMs, 5, " ms", "10,000 events: "),
    ],
  },
  {
    name: "10,000 threads in a list",
    beside: [],
    runs: [
      { key: "fill", scenario: "fill", parameters: { threads: 10_000, messages: 10 }, next: ["list"], only: "cinch" },
    ],
    judge: ({ us }) => [
      atMost(us("fill.list").firstPageMs, 100, " ms", "first page: "),
      atMost(us("fill.list").middleMs, 100, " ms", "a page from the middle: "),
      atMost(us("fill.list").allMs, 100, " ms", "all of them: "),
      atMost(us("fill.list").rareMs, 100, " ms", "a search for a title: "),
      atMost(us("fill.list").commonMs, 100, " ms", "for a word of every message: "),
      atMost(us("fill.list").letterMs, 100, " ms", "for the first letter of it: "),
    ],
  },
  {
    name: "finding events, 100,000 in a thread",
    beside: [],
    runs: [
      { key: "searched", scenario: "written", parameters: { events: 100_000 }, next: ["find"], only: "cinch" },
      { key: "outputs", scenario: "outputs", parameters: { n: 100, resultBytes: 100_000 }, only: "cinch" },
    ],
    judge: ({ us }) => [
      atMost(us("searched.find").numberMs, 100, " ms", "a number and a word: "),
      atMost(us("searched.find").commonMs, 100, " ms", "a word of every text: "),
      atMost(us("searched.find").letterMs, 100, " ms", "its first letter: "),
      atMost(us("searched.find").wordsMs, 100, " ms", "three words of every text: "),
      atMost(us("searched.find").noneMs, 100, " ms", "a word of no text: "),
      atMost(us("searched.find").resourceMs, 100, " ms", "a word of every text, in all threads of a resource: "),
      line(
        `the newest of 391 results of 2 KB in a running turn: ${show(us("searched.find").newestMs)} ms`,
        "",
        undefined,
      ),
      line(`an append of 100 KB: ${show(us("outputs").longMs)} ms`, "", undefined),
      line(
        `appends while 100 such results are indexed: median ${show(us("outputs").duringMs)} ms, slowest ${show(us("outputs").slowestMs)} ms`,
        "",
        undefined,
      ),
      line(`file grows by ${show(us("outputs").growth)} × these results`, "at most 1.5 ×", us("outputs").growth <= 1.5),
    ],
  },
  {
    name: "tools on 10,000 files",
    beside: [],
    runs: [{ key: "tools", scenario: "tools", parameters: {}, only: "cinch" }],
    judge: ({ us }) => [
      ...["few", "many"].flatMap((amount) => [
        ...besideRipgrep(us("tools"), `${amount}Files`, `grep, ${amount} matches, files`),
        ...besideRipgrep(us("tools"), `${amount}Content`, `${amount} matches, content`),
        ...besideRipgrep(us("tools"), `${amount}Count`, `${amount} matches, count`),
      ]),
      ...besideRipgrep(us("tools"), "glob", "glob, 1,000 of them"),
      unsorted(us("tools"), "glob", "1,000 of them"),
      ...besideRipgrep(us("tools"), "globAll", "glob, all"),
      unsorted(us("tools"), "globAll", "all"),
      line(`read_file in the middle of 1 GB: ${show(us("tools").readMs)} ms`, "", undefined),
      line(`edit_file in 1 MB: ${show(us("tools").editMs)} ms`, "", undefined),
    ],
  },
  {
    name: "recording a command, 5,000 files",
    beside: [],
    runs: [{ key: "undo", scenario: "undo", parameters: {}, only: "cinch" }],
    judge: ({ us }) => [
      atMost(us("undo").snapshotMs, 150, " ms", "nothing changed: "),
      line(`the slowest snapshot: ${show(us("undo").worstMs)} ms`, "", undefined),
      line(`ten files changed: ${show(us("undo").changedMs)} ms`, "", undefined),
      line(
        `the first snapshot: ${show(us("undo").firstMs)} ms, of the next process ${show(us("undo").nextMs)} ms`,
        "",
        undefined,
      ),
    ],
  },
  {
    name: "500 skills in the prompt",
    beside: [],
    runs: [{ key: "skills", scenario: "skills", parameters: {}, only: "cinch" }],
    judge: ({ us }) => {
      const { stepMs, plainStepMs, beginMs, plainBeginMs } = us("skills");
      return [
        line(
          `a step ${show(stepMs)} ms, ${show(stepMs / plainStepMs)} × one without`,
          "at most 1.05 × one without",
          stepMs <= 1.05 * plainStepMs,
        ),
        line(`a turn begins after ${show(beginMs)} ms, without them after ${show(plainBeginMs)} ms`, "", undefined),
      ];
    },
  },
  {
    name: "rewinding 5,000 files",
    beside: [],
    runs: [{ key: "rewind", scenario: "rewind", parameters: {}, only: "cinch" }],
    judge: ({ us }) => [
      atMost(us("rewind").changedMs, 1, " ms a file", "changed: "),
      atMost(us("rewind").deletedMs, 1, " ms a file", "deleted: "),
      atMost(us("rewind").madeMs, 1, " ms a file", "created: "),
      line(`a dry run: ${show(us("rewind").changedDryMs)} ms a file`, "", undefined),
    ],
  },
  {
    name: "2,000 steps with memory",
    beside: [],
    runs: [{ key: "memory", scenario: "memory", parameters: {}, only: "cinch" }],
    judge: ({ us }) => [
      line(
        `the last 100 steps take ${show(us("memory").lastMs / us("memory").firstMs)} × the first (${show(us("memory").firstMs)} ms)`,
        "at most 1.2 ×",
        us("memory").lastMs <= 1.2 * us("memory").firstMs,
      ),
      line(
        `opening it: ${show(us("memory").openMs / us("memory").newMs)} × a new thread (${show(us("memory").newMs)} ms)`,
        "at most 2 ×",
        us("memory").openMs <= 2 * us("memory").newMs,
      ),
      atMost(us("memory").promptMs, 10, " ms", "the prompt of 10,000 events, after the first: "),
    ],
  },
  {
    name: "subagents",
    beside: [],
    runs: [{ key: "subagents", scenario: "subagents", parameters: {}, only: "cinch" }],
    judge: ({ us }) => [
      atMost(us("subagents").childMs, 3, " ms a child", "100 that answer at once: "),
      atMost(us("subagents").forkMs, 10, " ms", "a fork of 10,000 events, to its first request: "),
      line(
        `opening a parent of 200 that have ended: ${show(us("subagents").openMs / us("subagents").plainMs)} × one without (${show(us("subagents").plainMs)} ms)`,
        "at most 1.2 ×",
        us("subagents").openMs <= 1.2 * us("subagents").plainMs,
      ),
    ],
  },
  {
    name: "200 threads × 200 deltas",
    beside: ["ai7"],
    runs: [{ key: "many", scenario: "many", parameters: { threads: 200, n: 200 } }],
    judge: ({ us, peer }) => [
      share(us("many").totalMs, peer("ai7", "many").totalMs, 1, "ai 7"),
      atMost(us("many").maxLagMs, 100, " ms", "loop lag: "),
      atMost(us("many").kbPerThread, 150, " KB a thread"),
      line(`${show(us("many").heapKbPerThread)} KB of it is live on the heap`, "", undefined),
    ],
  },
  {
    name: "import to ready",
    beside: ["ai7"],
    runs: [{ key: "cold", scenario: "cold", parameters: {} }],
    judge: ({ us, peer }) => [
      line(`${show(us("cold").readyMs)} ms`, "", undefined),
      share(us("cold").readyMs, peer("ai7", "cold").readyMs, 0.8, "ai 7"),
    ],
  },
  ...["grace", "sharp", "intool"].map((mode) => ({
    name: `kill -9 at step 50 of 100, ${mode}`,
    beside: [],
    once: true,
    runs: [{ key: `crash-${mode}`, scenario: "crash", parameters: { mode, at: 50, steps: 100 }, next: ["recover"] }],
    judge: ({ us }) => crashLines(us(`crash-${mode}.recover`), mode),
  })),
  {
    name: "prompt prefix",
    beside: [],
    once: true,
    runs: [
      { key: "cache-steps", scenario: "cache", parameters: { kind: "steps", n: 100 } },
      { key: "cache-turns", scenario: "cache", parameters: { kind: "turns", n: 100 } },
    ],
    judge: ({ us }) => [
      atMost(us("cache-steps").breaks, 0, " breaks", "100 steps: "),
      atMost(us("cache-turns").breaks, 0, " breaks", "100 turns: "),
    ],
  },
  ...servingRows,
  ...liveRows,
  ...postgresRows,
];

/** One line without and one with path rules. */
function besideRipgrep(us, key, what, limit = 1.5) {
  const rg = us[`${key}RgMs`];
  const judged = (ms, how) =>
    line(
      `${what}${how}: ${show(ms)} ms, ${show(ms / rg)} × rg (${show(rg)})`,
      `at most ${limit} × rg`,
      ms <= limit * rg,
    );
  return [judged(us[`${key}Ms`], ""), judged(us[`${key}RuledMs`], ", with path rules")];
}

/** Compared with a ripgrep that does not sort by time. */
function unsorted(us, key, what) {
  const [ms, rg] = [us[`${key}Ms`], us[`${key}UnsortedMs`]];
  return line(`${what}: ${show(ms / rg)} × rg that does not sort (${show(rg)})`, "", undefined);
}

function stepLines(us, pi, piJsonl) {
  return [
    line(`${show(us.msPerStep)} ms a step`, "", undefined),
    share(us.msPerStep, pi.msPerStep, 1 / 3, "pi on SQLite"),
    // It never syncs, so it promises less; it is a target because it is the faster of the two.
    share(us.msPerStep, piJsonl.msPerStep, 1 / 3, "pi on JSONL"),
    line(
      `last 50 steps ${show(us.lastMs / us.firstMs)} × the first 50`,
      "at most 1.3 ×",
      us.lastMs <= 1.3 * us.firstMs,
    ),
    line(`${show1024(us.bytesPerStep)} KB written a step`, "at most 40 KB", us.bytesPerStep <= 40 * 1024),
    line(
      `${show1024(us.bytesAt10)} KB at step 10, ${show1024(us.bytesAtEnd)} KB at step 400`,
      "the same, within 10 %",
      us.bytesAtEnd <= 1.1 * us.bytesAt10,
    ),
  ];
}

function crashLines(found, mode) {
  // In "intool" the 50th call was not finished: it has no result, and must be reported as unknown.
  const finished = mode === "intool" ? found.executed - 1 : found.executed;
  const lines = [
    line(
      `${found.resultsKept} of ${finished} results kept`,
      "all",
      found.resultsKept === finished && found.userMessageKept,
    ),
    line(`the turn continues ${found.how}`, "by itself, in place", found.how === "by itself" && found.finished),
    line(`${found.executedTwiceByItself} calls run twice by the harness`, "0", found.executedTwiceByItself === 0),
  ];
  if (mode !== "intool") return lines;
  return [...lines, line(`${found.unknownReported} reported as unknown`, "1", found.unknownReported === 1)];
}
