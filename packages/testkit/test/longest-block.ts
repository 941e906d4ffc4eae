import process from "node:process";

/** The CPU time of this thread. Elapsed time would include other processes. */
const computedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The longest time for which the work has blocked the event loop. */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = computedMs();
  const look = () => {
    const now = computedMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  // The work of the test itself does not count.
  await new Promise((go) => setTimeout(go, 5));
  longest = 0;
  try {
    await work();
  } finally {
    look();
    clearInterval(timer);
  }
  return longest;
}
