/** Clones the thread of `long`, until the clone is the current thread of a session. */
import { median } from "../lib/numbers.mjs";

export default async function clone({ start, now, times = 20 }) {
  const host = await start();
  await host.open("s1");
  const taken = [];
  for (let i = 0; i < times; i++) {
    const session = await host.cloner("s1");
    const from = now();
    await session.clone();
    taken.push(now() - from);
    await session.close();
  }
  return { events: host.eventCount("s1"), cloneMs: median(taken.slice(3)), firstMs: taken[0] };
}
