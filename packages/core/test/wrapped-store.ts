import type { Store } from "@cinch/core";

/** They ask no database. */
const ANSWERED = new Set(["die", "follow", "followThreads", "metrics"]);

type Interference = (method: string) => Promise<void> | undefined;

/** A store whose calls can be made to wait or to fail: before they have had their effect, or afterwards. */
export function wrapped<S extends Store>(store: S, before: Interference, after?: Interference): S {
  return new Proxy(store, {
    get(target, name: string) {
      const method = (target as unknown as Record<string, unknown>)[name];
      if (typeof method !== "function") return method;
      if (ANSWERED.has(name)) return method.bind(target);
      return async (...args: unknown[]) => {
        await before(name);
        const result = await (method as (...args: unknown[]) => unknown).apply(target, args);
        await after?.(name);
        return result;
      };
    },
  });
}
