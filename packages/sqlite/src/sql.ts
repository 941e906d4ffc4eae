import type { DatabaseSync, SQLInputValue } from "node:sqlite";

export interface Query<T> {
  get(...values: SQLInputValue[]): T | undefined;
  all(...values: SQLInputValue[]): T[];
  /** Returns how many rows changed. */
  run(...values: SQLInputValue[]): number;
}

/** A prepared statement that knows the shape of its rows. */
export function sql<T extends object>(db: DatabaseSync, text: string): Query<T> {
  const statement = db.prepare(text);
  return {
    get: (...values) => statement.get(...values) as T | undefined,
    all: (...values) => statement.all(...values) as T[],
    run: (...values) => Number(statement.run(...values).changes),
  };
}

/** The same for large reads: rows come as arrays, which are half the work. */
export function sqlArrays<T extends unknown[]>(db: DatabaseSync, text: string): (...values: SQLInputValue[]) => T[] {
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  return (...values) => statement.all(...values) as unknown[] as T[];
}
