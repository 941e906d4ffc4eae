/** The rows of the store in Postgres. The server is that of the tests, with commits on disk. */
import { atMost, line } from "./lines.mjs";
import { show } from "./numbers.mjs";

const row = (name, scenario, { key = scenario, parameters = {}, judge }) => ({
  name: `postgres: ${name}`,
  beside: [],
  runs: [{ key, scenario, parameters, only: "cinch" }],
  judge: ({ us }) => judge(us(key)),
});

const wakeRow = (engine) =>
  row(`wake to first append, ${engine}`, "postgres-wake", {
    key: `postgres-wake-${engine}`,
    parameters: { engine, wakes: 200 },
    judge: ({ wakeMs, appendMs, times, postMs, p99Ms }) => [
      atMost(times, 10, " × an append"),
      line(
        `${show(wakeMs)} ms (p99 ${show(p99Ms)}), of which the command ${show(postMs)}; an append ${show(appendMs)} ms`,
        "",
        undefined,
      ),
    ],
  });

const atLeast = (value, limit, unit, what = "") =>
  line(`${what}${show(value)}${unit}`, `${what}at least ${show(limit)}${unit}`, value >= limit);

export const postgresRows = [
  row("appends", "postgres-append", {
    parameters: { blocks: 12, threads: 64 },
    judge: ({ bareMs, appendMs, times, alone, together, gain }) => [
      atMost(times, 2, " × a bare INSERT", "one thread: "),
      line(`${show(appendMs)} ms, and ${show(bareMs)} ms for the INSERT`, "", undefined),
      atLeast(gain, 5, " × the rate of one", "64 threads: "),
      line(`${show(together)} appends a second, and ${show(alone)} one at a time`, "", undefined),
    ],
  }),
  row("notices of 4 processes", "postgres-notices", {
    parameters: { processes: 4, rounds: 5, ms: 2_000 },
    judge: ({ with: loud, without, costPercent }) => [
      atMost(costPercent, 30, " %", "cost: "),
      line(`${show(loud)} appends a second, and ${show(without)} without notices`, "", undefined),
    ],
  }),
  row("statements", "postgres-statements", {
    parameters: { steps: 200, deltas: 20_000 },
    judge: ({ perStep, perDelta }) => [
      atMost(Math.round(perStep * 100) / 100, 2.1, " statements a step"),
      atMost(Math.round(perDelta * 100) / 100, 0, " statements a delta"),
    ],
  }),
  row("10,000 waiting threads", "postgres-waiting", {
    parameters: { threads: 10_000, seconds: 15 },
    judge: ({ processMs, serverMs, strandedMs }) => [
      atMost(processMs, 5, " ms/s", "CPU of the process: "),
      atMost(serverMs, 5, " ms/s", "of the server: "),
      line(`a look for stranded threads takes ${show(strandedMs)} ms`, "", undefined),
    ],
  }),
  wakeRow("graphile"),
  wakeRow("restate"),
];
