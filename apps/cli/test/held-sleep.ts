import type { Place } from "./cli.ts";

type Running = ReturnType<Place["start"]>;

/**
 * The environment of a program in which the `nth` sleep of exactly `ms` lasts until `release`, or until it is aborted. A test so acts
 * while a tool runs or a model speaks, however long it takes to act.
 */
export function holding({ ms, nth = 1 }: { ms: number; nth?: number }): Record<string, string> {
  const source = `
    import { syncBuiltinESMExports } from "node:module";
    import timers from "node:timers/promises";
    const sleep = timers.setTimeout;
    let isOpen = false;
    let count = 0;
    process.on("SIGUSR2", () => (isOpen = true));
    timers.setTimeout = async (ms, value, options) => {
      if (ms !== ${ms} || ++count !== ${nth}) return sleep(ms, value, options);
      while (!isOpen) await sleep(10, undefined, options);
      return value;
    };
    syncBuiltinESMExports();
  `;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}

/** Ends the sleep that is held, or the next one that would be. */
export function release({ child }: Running): void {
  child.kill("SIGUSR2");
}
