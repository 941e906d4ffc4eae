import { setTimeout as delay } from "node:timers/promises";
import { MAX_WAIT } from "./wire-schemas.ts";

/** The result, or 202 if it takes longer than `wait` seconds. The work continues either way. */
export async function waited(work: Promise<Response>, wait: number = MAX_WAIT): Promise<Response> {
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
