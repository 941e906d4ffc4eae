import { setTimeout as sleep } from "node:timers/promises";
import { type CommandRun, type ExitStatus, whenAborted } from "../shells/running.ts";
import type { StartOptions } from "../shells/shell.ts";
import { type Launch, launchProcess } from "./launch.ts";
import { endTree, TERM_MS, waitUntilGone } from "./process-tree.ts";

/** How long processes that a command left running may take to end by themselves, such as `tee` in `> >(tee log)`. */
const LINGER_MS = 500;

/** From the start of a process to the end of everything that it started. */
export async function runProcess(run: CommandRun, launch: Launch, options: StartOptions = {}): Promise<ExitStatus> {
  const { output, stop } = run;
  if (stop.aborted) {
    launch.onDone?.("");
    return { code: null, signal: "SIGTERM" };
  }
  const { interactive = false, combined = false } = options;
  const wanted = { input: interactive, outputs: combined ? 1 : 2 } as const;
  const { tree, exited, input, outputs } = await launchProcess(launch, wanted).catch((error: unknown) => {
    launch.onDone?.("");
    throw error;
  });
  // A command may exit without reading its input.
  input?.on("error", () => {});
  run.connect(input);
  const [stdout, stderr] = outputs;
  const printed = Promise.all([output.drain(stdout!, "stdout"), stderr && output.drain(stderr, "stderr")]);

  await Promise.race([exited, whenAborted(stop)]);
  run.exited = !stop.aborted;
  const left = run.exited && !(await waitUntilGone(tree, LINGER_MS));
  if (left || stop.aborted) await endTree(tree);
  await output.finish(printed, stop);
  // A process that not even KILL ended is not waited for.
  const status = await Promise.race([exited, sleep(TERM_MS, { code: null, signal: "SIGKILL" }, { ref: false })]);
  for (const socket of [...outputs, input]) socket?.destroy();
  launch.guard.removeGroup(tree.group);
  const leftBehind = launch.onDone?.(tree.mark) || left;
  return { ...status, ...(leftBehind && { leftBehind }) };
}
