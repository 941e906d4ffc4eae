import { underTest } from "../support.ts";
import { Engine } from "./engine.ts";

/**
 * Runs tests a second time, in workers with an engine that loses every wake. What a session promises holds there, too: a worker drives
 * what its own sessions ask for.
 */
export async function runAsWorker(files: readonly string[]): Promise<void> {
  underTest.config = (config) => {
    if (config.placement) return config;
    const engine = new Engine();
    engine.otherwise = "lost";
    return { ...config, placement: engine.placement(), worker: {} };
  };
  for (const file of files) await import(`../${file}.test.ts`);
}
