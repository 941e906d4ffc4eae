import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 10;
/** How many small steps pass between two looks at the clock. */
const STEPS = 256;

let since = performance.now();
let steps = 0;
let last: Promise<void> = Promise.resolve();

/**
 * Whether work that never waits for I/O has used up its time slice. All work of the process shares one: several calls may run in one turn
 * of the event loop, and together they must not block it.
 */
export const isSliceOver = (): boolean => performance.now() - since >= SLICE_MS;

/** For loops of many small steps: `if (isDue()) await yieldIfDue();` */
export function isDue(): boolean {
  steps = (steps + 1) % STEPS;
  return steps === 0 && isSliceOver();
}

/** Yields to the event loop if the time slice is used up. Each caller waits for a slice of its own, in order, so none is starved. */
export async function yieldIfDue(): Promise<void> {
  if (isSliceOver()) await (last = last.then(nextSlice));
}

async function nextSlice(): Promise<void> {
  await nextTurn();
  since = performance.now();
}
