import { flushCompileCache } from "node:module";
import type { Store } from "@cinch/core";
import { postgresStore, type PostgresOptions } from "@cinch/postgres";

/** A call of a store in this process, sent by the parent. */
interface Call {
  id: number;
  store: number;
  method: keyof Store | "make" | "unfollow" | "longestPause";
  args: unknown[];
}

// Most of these processes are killed, which would lose the compile cache.
flushCompileCache();
const stores = new Map<number, Store>();
const followed = new Map<number, () => void>();
let longestPauseMs = 0;
let ranAt = performance.now();

/** Must be called more often than the pauses last that it finds. */
function run(): void {
  const now = performance.now();
  longestPauseMs = Math.max(longestPauseMs, now - ranAt);
  ranAt = now;
}
setInterval(run, 50).unref();

process.on("message", (call: Call) => {
  perform(call).then(
    (value) => process.send!({ id: call.id, value }),
    (error: { code: string; message: string }) =>
      process.send!({ id: call.id, failure: { code: error.code, message: error.message } }),
  );
});

/** Not async: the calls of a parent must begin in their order. */
function perform({ id, store, method, args }: Call): Promise<unknown> {
  if (method === "make") {
    stores.set(store, postgresStore(args[0] as PostgresOptions));
    return Promise.resolve();
  }
  if (method === "longestPause") {
    run();
    const ms = longestPauseMs;
    longestPauseMs = 0;
    return Promise.resolve(ms);
  }
  const target = stores.get(store)!;
  if (method === "unfollow") {
    followed.get(args[0] as number)?.();
    return Promise.resolve();
  }
  if (method === "follow") {
    followed.set(
      id,
      target.follow(args[0] as string, (seq, events) => process.send!({ id, changed: true, seq, events })),
    );
    return Promise.resolve();
  }
  if (method === "followThreads") {
    const changes = target.followThreads(args[0] as string);
    followed.set(id, () => changes.return!());
    return pump(id, changes);
  }
  const found = target[method] as (...values: unknown[]) => Promise<unknown>;
  return found.apply(target, args);
}

async function pump(id: number, changes: AsyncIterable<unknown>): Promise<void> {
  for await (const change of changes) process.send!({ id, change });
}
