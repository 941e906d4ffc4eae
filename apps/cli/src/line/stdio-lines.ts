import type { ReadStream } from "node:tty";
import type { LineInput } from "./line-port.ts";

/** A terminal stays as it is, so it edits and shows the line itself. A pipe gives what is written to it. */
export function stdinLines(stream: ReadStream): LineInput {
  stream.setEncoding("utf8");
  return {
    onText(listener) {
      stream.on("data", listener);
      stream.resume();
      return () => {
        stream.off("data", listener);
        stream.pause();
      };
    },
    onEnd(listener) {
      if (stream.readableEnded) setImmediate(listener);
      const ended = () => listener();
      // A terminal that is gone is an error of the stream.
      stream.once("end", ended).once("error", ended);
      return () => stream.off("end", ended).off("error", ended);
    },
    ...(stream.isTTY && { setRaw: (raw: boolean) => void stream.setRawMode(raw) }),
  };
}
