/** The rows of the live link: workers and a front on one Postgres, each a process of its own. */
import { atMost, line } from "./lines.mjs";
import { show } from "./numbers.mjs";

const watched = { threads: 60, perSecond: 20, seconds: 10 };

export const liveRows = [
  {
    name: "live link: a front that watches 60 threads of 2 workers",
    beside: [],
    runs: [
      { key: "live-front", scenario: "live-front", parameters: watched, only: "cinch" },
      { key: "live-drafts", scenario: "live-front", parameters: { ...watched, linked: false }, only: "cinch" },
    ],
    judge: ({ us }) => [
      atMost(us("live-front").p50Ms, 30, " ms", "20 deltas a second each: median "),
      line(
        `p99 ${show(us("live-front").p99Ms)} ms, CPU of the front ${show(us("live-front").cpuUsPerDelta)} µs a delta`,
        "",
        undefined,
      ),
      line(
        `${us("live-front").sent - us("live-front").count} deltas lost`,
        "0 deltas lost",
        us("live-front").sent === us("live-front").count,
      ),
      line(
        `transactions of the database a delta: ${show(us("live-front").transactionsPerDelta)}, drafts included`,
        "",
        undefined,
      ),
      line(
        `with drafts alone: median ${show(us("live-drafts").p50Ms)} ms, transactions a delta ${show(us("live-drafts").transactionsPerDelta)}`,
        "",
        undefined,
      ),
    ],
  },
];
