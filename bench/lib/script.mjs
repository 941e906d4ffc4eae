/**
 * The scripted model of every product. It depends only on the prompt, so a thread that is reopened or resumed continues
 * where its visible history ends.
 *
 *   user "DELTAS n"   n text deltas of 4 characters
 *   user "STEPS n"    n steps of one tool call each, then a short text
 *   user "CHAT n"     a text of about 40 characters in 4 deltas
 *   user "CONTINUE"   skipped: the model continues with the previous directive
 */
import { prose } from "./prose.mjs";

const DIRECTIVE = /^(DELTAS|STEPS|CHAT) (\d+)/;
const RESULT = /result n=(\d+)/;

/** One simulated network packet has this many deltas. */
const DELTAS_PER_PACKET = 10;

const toolArgs = (n) => ({ n, note: `${"x".repeat(60)}${String(n).padStart(6, "0")}` });

/** A small result by default; with `bytes`, a text of that length with many different words. */
export const toolResult = (n, bytes = 0) =>
  bytes > 0 ? `result n=${n} ${prose(n, bytes)}` : `result n=${n} ${"y".repeat(100)}`;

/** The new information in a step, in bytes: the arguments of the call and its result. */
export const bytesSaid = (n, bytes) => JSON.stringify(toolArgs(n)).length + toolResult(n, bytes).length;

/** What the model does next. `blocks`: `{ user }` or `{ toolResult }`, each a text, newest first. */
export function plan(blocks, memo) {
  let done = 0;
  for (const { user, toolResult: result } of blocks) {
    if (result !== undefined) done = Math.max(done, Number(RESULT.exec(result)?.[1] ?? 0));
    const directive = user === undefined ? null : DIRECTIVE.exec(user);
    if (directive) {
      memo.kind = directive[1];
      memo.n = Number(directive[2]);
      return { kind: memo.kind, n: memo.n, done };
    }
  }
  return { kind: memo.kind ?? "CHAT", n: memo.n ?? 0, done };
}

/** The answer to a plan, piece by piece. */
export async function* respond({ kind, n, done }, hooks) {
  await hooks.beforeModel?.({ kind, n, done });
  if (kind === "STEPS" && done < n) {
    const next = done + 1;
    yield { type: "tool", id: `call_${hooks.runTag}_${next}`, name: "bench_tool", args: toolArgs(next) };
    return;
  }
  const count = kind === "DELTAS" ? n : 4;
  for (let i = 0; i < count; i++) {
    if (i % DELTAS_PER_PACKET === DELTAS_PER_PACKET - 1) await new Promise(setImmediate);
    yield { type: "text", delta: kind === "DELTAS" ? "abcd" : `word${i % 10} text ` };
  }
}

/** The implementation of `bench_tool`, for every product. */
export async function runTool({ n }, hooks) {
  await hooks.onTool?.(n);
  return toolResult(n, hooks.resultBytes);
}
