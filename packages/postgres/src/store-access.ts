import type { Store } from "@cinch/core";
import type { Database } from "./database.ts";
import type { PostgresOptions } from "./options.ts";

/** What other parts of this package use of a store that was made by `postgresStore`. */
export interface StoreAccess {
  options: Required<PostgresOptions>;
  /** Throws `CLOSED` unless the store is open. */
  database(): Database;
}

const access = new WeakMap<Store, StoreAccess>();

export const grantAccess = (store: Store, to: StoreAccess): void => void access.set(store, to);

/** Nothing for a store of another kind, and for one that is wrapped. */
export const accessTo = (store: Store): StoreAccess | undefined => access.get(store);
