import type { Writable } from "node:stream";
import { errorMessage } from "../thrown-error.ts";
import { outputPump, type OutputPump } from "../processes/output-pump.ts";
import type { ShellCommand, CommandExit, Running, Sink } from "./shell.ts";

/** Timers can't wait longer. */
const LONGEST_MS = 2 ** 31 - 1;

export type ExitStatus = Pick<CommandExit, "code" | "signal" | "leftBehind">;

/** What a shell has of a command while it runs. */
export interface CommandRun {
  output: OutputPump;
  /** Aborted when the command must end: the caller stopped it, it took too long, or its sink failed. */
  stop: AbortSignal;
  /** The command itself has exited. What it started may still run. */
  exited: boolean;
  /** Call it after the start, with the standard input if that is open. */
  connect(input: Writable | undefined): void;
}

export interface RunningOptions {
  command: ShellCommand;
  sink: Sink;
  /** From the start of the command to the end of everything that it started. Rejects if it could not be started. */
  run: (run: CommandRun) => Promise<ExitStatus>;
  onEnd: () => void;
}

/** What every shell does for a command: enforces the time limit, stops it, and reports how it ended. */
export function running({ command, sink, run, onEnd }: RunningOptions): Running {
  const began = performance.now();
  const stop = new AbortController();
  const output = outputPump(sink, () => stop.abort());
  const connected = Promise.withResolvers<Writable | undefined>();
  const state: CommandRun = { output, stop: stop.signal, exited: false, connect: connected.resolve };
  let timedOut = false;

  const onTimeout = () => {
    timedOut = !state.exited;
    stop.abort();
  };
  const timer =
    command.timeoutMs === undefined ? undefined : setTimeout(onTimeout, Math.min(command.timeoutMs, LONGEST_MS));
  const onAbort = () => stop.abort();
  command.signal?.addEventListener("abort", onAbort, { once: true });
  if (command.signal?.aborted) stop.abort();

  const runToEnd = async (): Promise<CommandExit> => {
    let status: ExitStatus = { code: null, signal: "SIGTERM" };
    try {
      if (!stop.signal.aborted) status = await run(state);
    } catch (error) {
      await output.finish(output.print(Buffer.from(`${errorMessage(error)}\n`), "stderr"), stop.signal);
      status = { code: 127, signal: null };
    }
    state.exited = true;
    connected.resolve(undefined);
    clearTimeout(timer);
    command.signal?.removeEventListener("abort", onAbort);
    onEnd();
    return { ...status, timedOut, durationMs: Math.round(performance.now() - began) };
  };
  // Starts after the caller has received the object below.
  const exit = Promise.resolve().then(runToEnd);

  return {
    exit,
    async write(text) {
      const input = await connected.promise;
      if (!input?.writable) return false;
      return new Promise<boolean>((resolve) => input.write(text, (error) => resolve(!error)));
    },
    async stop() {
      stop.abort();
      await exit;
    },
  };
}

export const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
