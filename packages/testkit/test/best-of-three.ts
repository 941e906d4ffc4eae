import assert from "node:assert/strict";

/** Passes when one of three measurements is below the limit, in ms: a busy machine may delay any of them. */
export async function bestOfThree(limitMs: number, measure: () => number | Promise<number>): Promise<void> {
  const late: number[] = [];
  while (late.length < 3) {
    const ms = await measure();
    if (ms < limitMs) return;
    late.push(Math.round(ms));
  }
  assert.fail(`it took ${late.join(", ")} ms, and may take ${limitMs} ms`);
}
