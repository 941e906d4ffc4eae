/** Many short turns of one thread, with the whole history in every prompt. */
import { written } from "../lib/disk.mjs";
import { median } from "../lib/numbers.mjs";

export default async function turns({ n, start, now }) {
  let blocks = 0;
  const host = await start({ onRequest: (prompt) => (blocks = prompt.length) });
  await host.open("s1");
  const times = [];
  const before = written();
  for (let i = 1; i <= n; i++) {
    const from = now();
    await host.sendMessage("s1", `CHAT ${i}`);
    times.push(now() - from);
  }
  const after = written();
  await host.close();
  return {
    firstMs: times[0],
    at10Ms: median(times.slice(5, 15)),
    at100Ms: median(times.slice(95, 105)),
    atEndMs: median(times.slice(-10)),
    totalMs: times.reduce((a, b) => a + b),
    bytesPerTurn: (after.wchar - before.wchar) / n,
    blocksAtEnd: blocks,
  };
}
