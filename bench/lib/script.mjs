/**
 * The scripted model: what the fake model of every peer says. It decides from the prompt alone, so a thread that is
 * reopened or resumed goes on where its visible history stops.
 *
 *   user "DELTAS n"   n text deltas of 4 characters
 *   user "STEPS n"    n steps of one tool call each, then a short text
 *   user "CHAT n"     a text of about 40 characters in 4 deltas
 *   user "CONTINUE"   passed over: the model goes on with the directive before it
 */
import { prose } from "./prose.mjs";

const DIRECTIVE = /^(DELTAS|STEPS|CHAT) (\d+)/;
const RESULT = /result n=(\d+)/;

/** One "network packet" carries this many deltas. */
const DELTAS_PER_PACKET = 10;

export const toolArgs = (n) => ({ n, note: `${"x".repeat(60)}${String(n).padStart(6, "0")}` });

/** A small result by default; with `bytes`, about that much text of many different words. */
export const toolResult = (n, bytes = 0) =>
  bytes > 0 ? `result n=${n} ${prose(n, bytes)}` : `result n=${n} ${"y".repeat(100)}`;

/** Bytes of new information in a step: what the model asked and what the tool answered. */
export const bytesSaid = (n, bytes) => JSON.stringify(toolArgs(n)).length + toolResult(n, bytes).length;

/** What the model does next. `blocks` come newest first: `{ user }` or `{ toolResult }`, each a text. */
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

/** What `bench_tool` does, whichever product calls it. */
export async function runTool({ n }, hooks) {
  await hooks.onTool?.(n);
  return toolResult(n, hooks.resultBytes);
}
