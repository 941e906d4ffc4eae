import type { FaultCounts } from "./fault-proxy.ts";
import { gapRun } from "./gap-run.ts";

/** A run waits most of the time: for a network that stalls, and before it tries again. */
const AT_ONCE = 5;

interface Outcomes {
  passed(seed: number, counts: FaultCounts): void;
  failed(seed: number, error: unknown): void;
}

/** Runs with these seeds, several at once: those with an even seed have two servers. */
export async function gapRuns(seeds: readonly number[], { passed, failed }: Outcomes): Promise<void> {
  const left = seeds.values();
  const worker = async () => {
    for (const seed of left) {
      const run = gapRun({ seed, servers: seed % 2 === 0 ? 2 : 1 });
      await run.then(
        (counts) => passed(seed, counts),
        (error: unknown) => failed(seed, error),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
