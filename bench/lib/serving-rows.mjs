/** The rows of the server. Its clients are in another process. */
import { atMost, line } from "./lines.mjs";
import { show } from "./numbers.mjs";

/** The products that have a server. */
const SERVERS = ["cinch", "mastra"];

const none = (count, what) => line(`${count} ${what}`, `0 ${what}`, count === 0);

const row = (name, scenario, { parameters = {}, judge }) => ({
  name: `serving: ${name}`,
  beside: [],
  runs: [{ key: scenario, scenario, parameters, only: "cinch" }],
  judge: ({ us }) => judge(us(scenario)),
});

export const servingRows = [
  {
    name: "serving: one watcher",
    beside: [],
    runs: [
      { key: "serve-deltas", scenario: "serve-deltas", parameters: { n: 20_000 }, of: SERVERS },
      { key: "serve-paced", scenario: "serve-deltas", parameters: { n: 2_000, perSecond: 200 }, of: SERVERS },
    ],
    judge: ({ us }) => [
      atMost(us("serve-deltas").cpuUsPerDelta, 6, " µs a delta", "CPU from the model to the socket: "),
      atMost(us("serve-deltas").servingUsPerDelta, 4, " µs a delta", "of which serving: "),
      atMost(us("serve-paced").wireBytesPerDelta, 60, " bytes", "a delta of 5 characters at 200 a second: "),
    ],
  },
  row("adapters", "adapter-folds", {
    parameters: { n: 50_000 },
    judge: ({ aiSdkUs, agUiUs, acpUs }) => [
      atMost(aiSdkUs, 1, " µs a delta", "folding to chunks of the AI SDK: "),
      atMost(agUiUs, 1, " µs a delta", "to events of AG-UI: "),
      atMost(acpUs, 1, " µs a delta", "to updates of ACP: "),
    ],
  }),
  row("1,000 watchers of one thread", "serve-watchers", {
    parameters: { watchers: 1_000, perSecond: 50, seconds: 6 },
    judge: ({ p50Ms, p99Ms, behind, cpuMsPerSecond }) => [
      atMost(p99Ms, 250, " ms", "50 deltas a second: p99 "),
      line(`median ${show(p50Ms)} ms, CPU ${show(cpuMsPerSecond)} ms/s`, "", undefined),
      none(behind, "watchers behind"),
    ],
  }),
  row("1,000 idle streams of 1,000 threads", "serve-idle", {
    parameters: { streams: 1_000, seconds: 20 },
    judge: ({ kbEach, heapKbEach, cpuMsPerSecond, heartbeatUs, ended }) => [
      atMost(kbEach, 150, " kB each"),
      line(`${show(heapKbEach)} kB of it is live`, "", undefined),
      atMost(cpuMsPerSecond, 1, " ms/s", "CPU without heartbeats: "),
      line(`a heartbeat takes ${show(heartbeatUs)} µs`, "", undefined),
      none(ended, "streams ended"),
    ],
  }),
  row("a watcher that never reads, 1 GB", "serve-stuck", {
    parameters: { megabytes: 1_000 },
    judge: ({ mbForIt, missed, slower }) => [
      atMost(mbForIt, 5, " MB", "for it: "),
      none(missed, "gaps for the watcher that reads"),
      line(`which takes ${show(slower)} × as long as without it`, "", undefined),
    ],
  }),
  row("500 clients return after kill -9", "serve-restart", {
    parameters: { streams: 500 },
    judge: ({ currentMs, startMs, cpuMs }) => [
      atMost(currentMs / 1_000, 3, " s", "all current after "),
      line(`CPU ${show(cpuMs)} ms; the server starts in ${show(startMs / 1_000)} s`, "", undefined),
    ],
  }),
  row("snapshot of 5,000 messages, results of 20 kB", "serve-snapshot", {
    parameters: { messages: 5_000, resultBytes: 20_000 },
    judge: ({ kb, firstByteMs, cpuMs, openingMs }) => [
      atMost(kb, 300, " kB", "compressed: "),
      atMost(firstByteMs, 50, " ms", "first byte when it is open: "),
      line(`CPU ${show(cpuMs)} ms; opening it without saved folds: ${show(openingMs)} ms`, "", undefined),
    ],
  }),
  row("steer, over the in-process one", "serve-steer", {
    judge: ({ moreMs, moreCpuMs, inProcessMs, remoteMs }) => [
      atMost(moreMs, 1, " ms more"),
      line(
        `${show(remoteMs)} ms, in the process ${show(inProcessMs)} ms (medians); ${show(moreCpuMs)} ms more CPU of the server`,
        "",
        undefined,
      ),
    ],
  }),
  row("the page, until it can be used", "page-usable", {
    parameters: { messages: 200 },
    judge: ({ emptyMs, threadMs, worstMs }) => [
      atMost(emptyMs, 500, " ms", "empty: "),
      atMost(threadMs, 500, " ms", "at a thread of 200 messages: "),
      line(`the slowest of all: ${show(worstMs)} ms`, "", undefined),
    ],
  }),
  row("the page, 200 messages and 200 deltas a second", "page-stream", {
    parameters: { messages: 200, perSecond: 200, seconds: 8 },
    judge: ({ p99GapMs, longestTaskMs, frames }) => [
      atMost(p99GapMs, 50, " ms", "between frames, p99: "),
      atMost(longestTaskMs, 100, " ms", "longest task: "),
      line(`${frames} frames`, "", undefined),
    ],
  }),
  row("the page, a diff of 50,000 lines", "page-diff", {
    parameters: { lines: 50_000 },
    judge: ({ openedMs, keyMs, longestTaskMs }) => [
      atMost(openedMs, 200, " ms", "opened in "),
      atMost(keyMs, 200, " ms", "a key typed meanwhile is shown after "),
      line(`longest task ${show(longestTaskMs)} ms`, "", undefined),
    ],
  }),
];
