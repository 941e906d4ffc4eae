import type { Store } from "@cinch/core";

/** What the stores of a test wait for. */
export interface Order {
  settled: Promise<unknown>;
}

/**
 * A store whose calls, and those of the others in the same order, begin when the earlier `follow` of any of them is in force. Within one process
 * the store itself promises that; between processes a test has to wait, as a read does.
 */
export function ordered(store: Store, order: Order): Store {
  const isFollow = (method: string) => method === "follow" || method === "followThreads";
  return new Proxy(store, {
    get: (target, method: keyof Store & string) => {
      const found = target[method] as unknown;
      if (typeof found !== "function") return found;
      return (...args: unknown[]) => {
        const call = () => (found as (...values: unknown[]) => unknown).apply(target, args);
        if (!isFollow(method)) return order.settled.then(call);
        const result = call();
        const inForce = () => target.read("there is no such thread").catch(() => undefined);
        order.settled = order.settled.then(inForce);
        return result;
      };
    },
  });
}
