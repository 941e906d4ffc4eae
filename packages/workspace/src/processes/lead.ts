import { setTimeout as sleep } from "node:timers/promises";
import type { StartOptions } from "../shells/shell.ts";
import { type Launch, start } from "./launch.ts";
import { aborted, type Ended, type Life } from "../shells/running.ts";
import { endTree, gone, TERM_MS } from "./process-tree.ts";

/** How long what a command left running may take to end by itself, such as `tee` in `> >(tee log)`. */
const LINGER_MS = 500;

/** Leads a process from its start to the end of everything that it started. */
export async function lead(life: Life, launch: Launch, options: StartOptions = {}): Promise<Ended> {
  const { outlet, stop } = life;
  if (stop.aborted) {
    launch.done?.("");
    return { code: null, signal: "SIGTERM" };
  }
  const { interactive = false, combined = false } = options;
  const { tree, exited, input, outputs } = await begin(launch, { input: interactive, outputs: combined ? 1 : 2 });
  // A command that does not read what it is told is no reason to fall over.
  input?.on("error", () => {});
  life.connect(input);
  const [stdout, stderr] = outputs;
  const printed = Promise.all([outlet.drain(stdout!, "stdout"), stderr && outlet.drain(stderr, "stderr")]);

  await Promise.race([exited, aborted(stop)]);
  life.over = !stop.aborted;
  const left = life.over && !(await gone(tree, LINGER_MS));
  if (left || stop.aborted) await endTree(tree);
  await outlet.finish(printed, stop);
  // Whom even KILL did not end is not waited for.
  const ended = await Promise.race([exited, sleep(TERM_MS, { code: null, signal: "SIGKILL" }, { ref: false })]);
  for (const socket of [...outputs, input]) socket?.destroy();
  launch.leash.release(tree.group);
  const leftBehind = launch.done?.(tree.mark) || left;
  return { ...ended, ...(leftBehind && { leftBehind }) };
}

async function begin(...parameters: Parameters<typeof start>): ReturnType<typeof start> {
  try {
    return await start(...parameters);
  } catch (error) {
    parameters[0].done?.("");
    throw error;
  }
}
