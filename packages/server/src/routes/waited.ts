import { setTimeout as delay } from "node:timers/promises";
import { MAX_WAIT } from "./wire-schemas.ts";

/** The result, or 202 if it takes longer than `wait` seconds. The work continues either way. */
export async function waited<T>(work: Promise<T>, wait: number = MAX_WAIT): Promise<T | Response> {
  const timer = new AbortController();
  const late = delay(wait * 1_000, undefined, { signal: timer.signal, ref: false })
    .catch(() => undefined)
    .then(() => Response.json({}, { status: 202 }));
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

/** The same for a request that only waits: it stops waiting when it is answered, or its connection ends. */
export async function onlyWaited(
  wait: (signal: AbortSignal) => Promise<unknown>,
  { request, seconds }: { request: Request; seconds: number | undefined },
): Promise<unknown> {
  const over = new AbortController();
  const end = () => over.abort();
  request.signal.addEventListener("abort", end);
  try {
    const waiting = wait(over.signal).catch((error: unknown) => {
      // There is no connection any more to answer on.
      if (request.signal.aborted) return Response.json({}, { status: 202 });
      throw error;
    });
    return await waited(waiting, seconds);
  } finally {
    request.signal.removeEventListener("abort", end);
    end();
  }
}
