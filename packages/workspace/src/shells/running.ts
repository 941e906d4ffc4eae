import type { Writable } from "node:stream";
import type { Command, Exit, Running, Sink } from "./shell.ts";
import { Outlet } from "../processes/outlet.ts";

/** Timers can't wait longer. */
const LONGEST_MS = 2 ** 31 - 1;

export type Ended = Pick<Exit, "code" | "signal" | "leftBehind">;

/** What a command has while it lives. */
export interface Life {
  outlet: Outlet;
  /** Aborted when it has to end: somebody wants that, it took too long, or nobody takes what it prints. */
  stop: AbortSignal;
  /** The command itself is, whatever it may have left behind. */
  over: boolean;
  /** To be called once it is started, with its standard input if that is open. */
  connect(input: Writable | undefined): void;
}

export interface RunningOptions {
  command: Command;
  sink: Sink;
  /** From the start of the command to the end of everything that it started. Rejects with why it could not be started. */
  live: (life: Life) => Promise<Ended>;
  onEnd: () => void;
}

/** What every shell does for a command, whatever it is made of: ends it in time, and tells how it ended. */
export function running({ command, sink, live, onEnd }: RunningOptions): Running {
  const began = performance.now();
  const stop = new AbortController();
  const outlet = new Outlet(sink, () => stop.abort());
  const connected = Promise.withResolvers<Writable | undefined>();
  const life: Life = { outlet, stop: stop.signal, over: false, connect: connected.resolve };
  let timedOut = false;

  const late = () => {
    timedOut = !life.over;
    stop.abort();
  };
  const timer = command.timeoutMs === undefined ? undefined : setTimeout(late, Math.min(command.timeoutMs, LONGEST_MS));
  const aborted = () => stop.abort();
  command.signal?.addEventListener("abort", aborted, { once: true });
  if (command.signal?.aborted) stop.abort();

  const toTheEnd = async (): Promise<Exit> => {
    let ended: Ended = { code: null, signal: "SIGTERM" };
    try {
      if (!stop.signal.aborted) ended = await live(life);
    } catch (error) {
      const why = Buffer.from(`${error instanceof Error ? error.message : String(error)}\n`);
      await outlet.finish(outlet.print(why, "stderr"), stop.signal);
      ended = { code: 127, signal: null };
    }
    life.over = true;
    connected.resolve(undefined);
    clearTimeout(timer);
    command.signal?.removeEventListener("abort", aborted);
    onEnd();
    return { ...ended, timedOut, durationMs: Math.round(performance.now() - began) };
  };
  // Not before the caller has what it is about.
  const exit = Promise.resolve().then(toTheEnd);

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

/** Settles when it is. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
