import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export interface Query<T> {
  get(...values: SQLInputValue[]): T | undefined;
  all(...values: SQLInputValue[]): T[];
  /** Returns how many rows changed. */
  run(...values: SQLInputValue[]): number;
}

/** A limit that is a parameter. A bare parameter would be part of the plan: SQLite would plan the statement again each time that it runs. */
export const limitTo = (parameter: string): string => `LIMIT ${parameter} + 0`;

/** A statement with typed rows. It is prepared at its first use: most processes use only a few. */
export function sql<T extends object>(db: DatabaseSync, text: string): Query<T> {
  let prepared: StatementSync | undefined;
  const statement = () => (prepared ??= db.prepare(text));
  return {
    get: (...values) => statement().get(...values) as T | undefined,
    all: (...values) => statement().all(...values) as T[],
    run: (...values) => Number(statement().run(...values).changes),
  };
}

/** For large reads: rows are returned as arrays, which takes half the time. */
export function sqlArrays<T extends unknown[]>(db: DatabaseSync, text: string): (...values: SQLInputValue[]) => T[] {
  let statement: StatementSync | undefined;
  return (...values) => {
    if (!statement) {
      statement = db.prepare(text);
      statement.setReturnArrays(true);
    }
    return statement.all(...values) as unknown[] as T[];
  };
}

/** For reads that may stop early. */
export function sqlCursor<T extends unknown[]>(
  db: DatabaseSync,
  text: string,
): (...values: SQLInputValue[]) => NodeJS.Iterator<T> {
  let statement: StatementSync | undefined;
  return (...values) => {
    if (!statement) {
      statement = db.prepare(text);
      statement.setReturnArrays(true);
    }
    return statement.iterate(...values) as unknown as NodeJS.Iterator<T>;
  };
}
