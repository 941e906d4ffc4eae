/** Lists and searches the threads of `fill`, in a process that has just opened the store. */
import { median } from "../lib/numbers.mjs";

export default async function list({ threads, start, now, times = 9 }) {
  const host = await start();
  const measured = async (query) => {
    const taken = [];
    let found;
    for (let i = 0; i < times; i++) {
      const from = now();
      found = await host.list(query);
      taken.push(now() - from);
    }
    return { ms: median(taken), firstMs: taken[0], found };
  };
  const page = await measured({ limit: 50 });
  const all = await measured({ limit: threads });
  if (all.found.length !== threads) throw new Error(`${all.found.length} of ${threads} threads are listed`);
  const middle = await measured({ limit: 50, before: all.found[threads / 2].id });
  const rare = await measured({ limit: 50, query: "thread 4321" });
  if (rare.found.length === 0) throw new Error("a title is not found");
  const common = await measured({ limit: 50, query: "const" });
  const letter = await measured({ limit: 50, query: "c" });
  return {
    pageMs: page.ms,
    firstPageMs: page.firstMs,
    middleMs: middle.ms,
    allMs: all.ms,
    rareMs: rare.ms,
    commonMs: common.ms,
    letterMs: letter.ms,
  };
}
