import { CinchError } from "@cinch/core";
import type { RouteCall } from "../routes/route.ts";

export const isMissing = (error: unknown): boolean => error instanceof CinchError && error.code === "THREAD_NOT_FOUND";

/** Creates the thread whose id a client has chosen, if there is none. Throws `THREAD_EXISTS` if it is another resource's. */
export async function openThread({ who, parts }: RouteCall, id: string): Promise<void> {
  try {
    await parts.seats.use(id, who, () => undefined);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await parts.seats.visit(who, (session) => session.createThread({ id }));
  }
}
