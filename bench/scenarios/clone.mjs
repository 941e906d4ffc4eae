/** Cloning the thread that `long` has made, until the clone is the current thread of a session. */
import { median } from "../lib/numbers.mjs";

export default async function clone({ start, now, times = 20 }) {
  const host = await start();
  await host.open("s1");
  const taken = [];
  for (let i = 0; i < times; i++) {
    const seat = await host.clone("s1");
    const from = now();
    await seat.clone();
    taken.push(now() - from);
    await seat.close();
  }
  return { events: host.eventCount("s1"), cloneMs: median(taken.slice(3)), firstMs: taken[0] };
}
