/** Markdown tables of the medians. */
import { show } from "./numbers.mjs";

const verdict = (ok) => (ok === undefined ? "" : ok ? "ok" : "**missed**");

/** The rows of Cinch: measured, must reach, verdict. */
export function ownTable(rows, results) {
  const lines = rows.flatMap((row) => {
    const judged = judge(row, results);
    return judged.map(({ measured, target, ok }, at) => [at === 0 ? row.name : "", measured, target, verdict(ok)]);
  });
  return markdown(["row", "measured", "must reach", ""], lines);
}

function judge(row, results) {
  const failure = results.failureOf(row);
  if (failure) return [{ measured: `failed: ${failure}`, target: "", ok: false }];
  return row.judge({ us: (key) => results.medians("cinch", key), peer: (name, key) => results.medians(name, key) });
}

/** The measurements that are compared between products. */
const columns = [
  ["deltas", "µs a delta", "usPerDelta"],
  ["steps", "ms a step", "msPerStep"],
  ["steps", "bytes a step", "bytesPerStep"],
  ["steps2k", "ms a step (2 KB)", "msPerStep"],
  ["steps2k", "bytes a step (2 KB)", "bytesPerStep"],
  ["steps2k", "file / said", "growth"],
  ["turns", "ms turn 10", "at10Ms"],
  ["turns", "ms turn 500", "atEndMs"],
  ["turns.reopen", "reopen ms", "openMs"],
  ["many", "200 threads ms", "totalMs"],
  ["many", "loop lag ms", "maxLagMs"],
  ["many", "KB a thread", "kbPerThread"],
  ["cold", "cold ms", "readyMs"],
  ["serve-deltas", "served: µs of CPU a delta", "cpuUsPerDelta"],
  ["serve-deltas", "of which serving", "servingUsPerDelta"],
  ["serve-deltas", "bytes a delta", "wireBytesPerDelta"],
  ["serve-paced", "bytes a delta at 200/s", "wireBytesPerDelta"],
  ["crash-sharp.recover", "results kept of 50", "resultsKept"],
  ["crash-intool.recover", "run twice by itself", "executedTwiceByItself"],
  ["cache-steps", "breaks, steps", "breaks"],
  ["cache-turns", "breaks, turns", "breaks"],
];

export function peerTable(names, results) {
  const cell = (name, key, field) => show(results.medians(name, key)[field]);
  const measured = columns.filter(([key, , field]) => names.some((name) => field in results.medians(name, key)));
  const lines = measured.map(([key, title, field]) => [title, ...names.map((name) => cell(name, key, field))]);
  return markdown(["", ...names], lines);
}

function markdown(head, lines) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  return [row(head), `|${"---|".repeat(head.length)}`, ...lines.map(row)].join("\n");
}
