import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Polls until the condition holds. Fails after a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(10)) if (await condition()) return;
  assert.fail(`${what} never happened`);
}
