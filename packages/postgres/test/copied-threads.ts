import type { Place } from "./place.ts";

/** Copies a thread with its events, past the store: ten thousand of them in a second. Returns the ids. */
export async function copiedThreads(place: Place, threadId: string, count: number): Promise<string[]> {
  const rows = await place.query(
    `WITH source AS (SELECT * FROM cinch.threads WHERE id = $1
     ), copied AS (
       INSERT INTO cinch.threads (id, title, folded, resource, parent, subagent, created_at, updated_at, touched, metadata, version,
         asked, changed, deleted)
       SELECT id || '-' || n, title, folded, resource, parent, subagent, created_at, updated_at, nextval('cinch.touches'), metadata,
         version, asked, changed, deleted
       FROM source, generate_series(1, $2::integer) n RETURNING no, id
     ), heads AS (
       INSERT INTO cinch.heads SELECT c.no, last_seq, epoch, holder, active, awake, woken_at, due_at, asking, deleted, nonce
       FROM copied c, cinch.heads WHERE thread = (SELECT no FROM source)
     ), segments AS (
       INSERT INTO cinch.segments SELECT c.no, idx, c.no, from_seq, to_seq
       FROM copied c, cinch.segments WHERE thread = (SELECT no FROM source)
     ), events AS (
       INSERT INTO cinch.events SELECT c.no, seq, checksum, input, nonce, body
       FROM copied c, cinch.events WHERE journal = (SELECT no FROM source)
     ) SELECT id FROM copied ORDER BY no`,
    [threadId, count],
  );
  return rows.map(({ id }) => String(id));
}
