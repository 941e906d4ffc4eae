import { CinchError } from "@cinch/core";
import { threadNotFoundMessage } from "./failure.ts";
import type { Failure } from "./protocol.ts";

// Apart from failure.ts, because the worker loads that one, and the worker must not import core.

export const toCinchError = ({ code, message, cause }: Failure): CinchError => new CinchError(code, message, cause);

export const storeClosed = (): CinchError => new CinchError("CLOSED", "The store is not open. Call its open() first.");

export const threadNotFoundError = (threadId: string): CinchError =>
  new CinchError("THREAD_NOT_FOUND", threadNotFoundMessage(threadId));
