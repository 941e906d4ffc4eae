import { crc32 } from "node:zlib";
import type { DatabaseSync } from "node:sqlite";
import type { SavedFold } from "@cinch/core/store";
import { sql } from "./sql.ts";

/** Saved folds, at most one per thread: a cache that may be lost at any time. */
export class FoldRows {
  readonly #save;
  readonly #drop;

  constructor(db: DatabaseSync) {
    this.#save = sql(
      db,
      `INSERT INTO folds (thread, seq, fingerprint, crc, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET seq = excluded.seq, fingerprint = excluded.fingerprint, crc = excluded.crc, body = excluded.body
       WHERE excluded.seq > seq OR excluded.fingerprint <> fingerprint`,
    );
    this.#drop = sql(db, "DELETE FROM folds WHERE thread = ?");
  }

  save(thread: number, { seq, fingerprint, body }: SavedFold): void {
    this.#save.run(thread, seq, fingerprint, crc32(body), body);
  }

  drop(thread: number): void {
    this.#drop.run(thread);
  }
}
