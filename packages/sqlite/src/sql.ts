import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export interface Query<T> {
  get(...values: SQLInputValue[]): T | undefined;
  all(...values: SQLInputValue[]): T[];
  /** Returns how many rows changed. */
  run(...values: SQLInputValue[]): number;
}

/** A statement that knows the shape of its rows. It is prepared when it is first used: most of them never are. */
export function sql<T extends object>(db: DatabaseSync, text: string): Query<T> {
  let prepared: StatementSync | undefined;
  const statement = () => (prepared ??= db.prepare(text));
  return {
    get: (...values) => statement().get(...values) as T | undefined,
    all: (...values) => statement().all(...values) as T[],
    run: (...values) => Number(statement().run(...values).changes),
  };
}

/** The same for large reads: rows come as arrays, which are half the work. */
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
