import { setTimeout as sleep } from "node:timers/promises";
import type { Sink } from "../shells/shell.ts";
import type { PipeReader } from "./pipes.ts";

type StreamName = "stdout" | "stderr";

/** After the end of a command, its output is complete when this many polls in a row find nothing new. */
const QUIET_POLLS = 10;
const POLL_MS = 25;
/** How long a sink may delay the end of a command that was stopped. */
const STOPPED_MS = 500;

export type OutputPump = ReturnType<typeof outputPump>;

/** Gives the output of a command to the sink, one chunk at a time. */
export function outputPump(sink: Sink, onFailure: () => void) {
  let queue: Promise<void> = Promise.resolve();
  let [waiting, chunks, failed] = [0, 0, false];

  const give = (chunk: Uint8Array, name: StreamName): Promise<void> => {
    chunks += 1;
    waiting += 1;
    const one = async () => {
      try {
        if (!failed) await sink(chunk, name);
      } catch {
        failed = true;
        onFailure();
      } finally {
        waiting -= 1;
      }
    };
    queue = queue.then(one);
    return queue;
  };

  return {
    drain: (reader: PipeReader, name: StreamName): Promise<void> => reader.read((chunk) => give(chunk, name)),
    async print(bytes: Uint8Array, name: StreamName): Promise<void> {
      if (bytes.length > 0) await give(bytes, name);
    },
    /**
     * Settles with `streams`, or earlier if an unknown process holds them open and prints nothing, or if the command was stopped and the
     * sink does not take the rest. A slow sink gets everything.
     */
    async finish(streams: Promise<unknown>, stop: AbortSignal): Promise<void> {
      const done = new AbortController();
      const untilQuiet = async () => {
        let [quiet, left] = [0, STOPPED_MS];
        // Counts polls instead of time: while this process was busy, nothing could arrive.
        while (quiet < QUIET_POLLS && left > 0) {
          const before = chunks;
          await sleep(POLL_MS, undefined, { signal: done.signal });
          if (stop.aborted) left -= POLL_MS;
          quiet = waiting === 0 && chunks === before ? quiet + 1 : 0;
        }
      };
      // Rejects only when `done` ends the polling.
      await Promise.race([streams, untilQuiet().catch(() => {})]);
      done.abort();
    },
  };
}
