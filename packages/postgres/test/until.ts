import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Waits for a condition, which may throw. */
export async function until(what: string, condition: () => Promise<boolean> | boolean, ms = 300_000): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end; await pause(20)) if (await condition()) return;
  assert.fail(`${what} never happened`);
}
