import { setTimeout as pause } from "node:timers/promises";
import { Place } from "./place.ts";
import { Proxy } from "./proxy.ts";
import { until } from "./until.ts";

/** A schema with a store that reaches it through a proxy, which can lose its connections. `options`: of its sessions. */
export async function withProxy(options = "") {
  const place = await Place.make();
  const proxy = await Proxy.to(place.url);
  const url = new URL(proxy.url);
  const patience = new URL(place.patientOptions.url).searchParams.get("options")!;
  // Names the sessions of this test.
  url.searchParams.set("application_name", place.schema);
  url.searchParams.set("options", `${patience} ${options}`.trim());
  // Its transactions may be too short to create tables.
  if (options) await place.store();
  const store = await place.store({ url: url.href });
  const dispose = async () => {
    await place[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
  return { place, proxy, store, [Symbol.asyncDispose]: dispose };
}

/** The sessions whose query with this text waits for a lock. */
export async function blocked(place: Place, text: string): Promise<number[]> {
  const rows = await place.query(
    "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock' AND query LIKE $2",
    [place.schema, `%${text}%`],
  );
  return rows.map(({ pid }) => pid as number);
}

export async function firstBlocked(place: Place, text: string): Promise<number> {
  let [pid] = await blocked(place, text);
  await until("the wait for a lock", async () => ([pid] = await blocked(place, text)).length > 0);
  return pid!;
}

/** Lets the server end the queries with this text that wait for a lock, with an error. */
export async function cancelBlocked(place: Place, text: string): Promise<void> {
  for (const pid of await blocked(place, text)) await place.query("SELECT pg_cancel_backend($1)", [pid]);
}

/** Whether it has not settled by now. */
export const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise.catch(() => undefined), pause(0, "pending")])) === "pending";
