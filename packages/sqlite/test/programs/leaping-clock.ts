import { isMainThread } from "node:worker_threads";

// A busy machine may stop a thread between any two instructions. In the worker, it does so at each look at the clock.
const LEAP_MS = 20;

if (!isMainThread) {
  const now = performance.now.bind(performance);
  let leaps = 0;
  performance.now = () => now() + LEAP_MS * ++leaps;
}
