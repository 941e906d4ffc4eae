/** Deletes the events of deleted threads that no thread reads any more, with their blobs. Threads that live keep what they have rewound. */
export const PURGE = `
CREATE OR REPLACE FUNCTION cinch.purge(journals bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
  gone bigint[];
  hashes text[];
BEGIN
  -- A deletion that runs now holds these locks: what it has deleted must be seen here, or neither would purge.
  PERFORM 1 FROM cinch.heads h WHERE h.thread = ANY (journals) ORDER BY h.thread FOR KEY SHARE;
  PERFORM 1 FROM cinch.heads h WHERE h.thread = ANY (journals) AND h.deleted ORDER BY h.thread FOR UPDATE;
  SELECT array_agg(h.thread) INTO gone FROM cinch.heads h WHERE h.thread = ANY (journals) AND h.deleted;
  IF gone IS NULL THEN RETURN; END IF;
  WITH dropped AS (
    DELETE FROM cinch.blob_refs r WHERE r.journal = ANY (gone) AND NOT EXISTS (
      SELECT 1 FROM cinch.segments s WHERE s.journal = r.journal AND r.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647))
    RETURNING r.hash
  ) SELECT array_agg(DISTINCT hash) INTO hashes FROM dropped;
  DELETE FROM cinch.events e WHERE e.journal = ANY (gone) AND NOT EXISTS (
    SELECT 1 FROM cinch.segments s WHERE s.journal = e.journal AND e.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647));
  DELETE FROM cinch.said w WHERE w.journal = ANY (gone) AND NOT EXISTS (
    SELECT 1 FROM cinch.segments s WHERE s.journal = w.journal AND w.seq BETWEEN s.from_seq AND coalesce(s.to_seq, 2147483647));
  DELETE FROM cinch.dirty d WHERE d.journal = ANY (gone)
    AND NOT EXISTS (SELECT 1 FROM cinch.segments s WHERE s.journal = d.journal);
  IF hashes IS NULL THEN RETURN; END IF;
  DELETE FROM cinch.blobs b WHERE b.hash = ANY (hashes)
    AND NOT EXISTS (SELECT 1 FROM cinch.blob_refs r WHERE r.hash = b.hash);
END $function$;
`;

export const REWIND_SEGMENTS = `
CREATE OR REPLACE FUNCTION cinch.rewind_segments(no bigint, to_last integer, from_next integer)
RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
  inherited bigint[];
BEGIN
  SELECT array_agg(DISTINCT s.journal) INTO inherited FROM cinch.segments s WHERE s.thread = no AND s.journal <> no;
  DELETE FROM cinch.segments s WHERE s.thread = no AND s.from_seq > to_last;
  UPDATE cinch.segments s SET to_seq = to_last WHERE s.thread = no AND (s.to_seq IS NULL OR s.to_seq > to_last);
  INSERT INTO cinch.segments (thread, idx, journal, from_seq, to_seq)
    VALUES (no, (SELECT coalesce(max(s.idx), 0) + 1 FROM cinch.segments s WHERE s.thread = no), no, from_next, NULL);
  IF inherited IS NOT NULL THEN PERFORM cinch.purge(inherited); END IF;
END $function$;
`;

/**
 * Returns the deleted threads as `[no, id]`, or null if there is no such thread. A retry of a deletion that had happened returns them again:
 * it is rare, and finds them by their nonce without an index.
 */
export const DELETE_THREAD = `
CREATE OR REPLACE FUNCTION cinch.delete_thread(given text, given_nonce bigint, is_retry boolean)
RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  head cinch.heads;
  family bigint[];
  level bigint[];
  journals bigint[];
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  SELECT h.* INTO head FROM cinch.heads h
    WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = given) FOR UPDATE;
  IF is_retry AND head.deleted AND head.nonce = given_nonce THEN
    RETURN (SELECT jsonb_agg(jsonb_build_array(t.no, t.id)) FROM cinch.heads h JOIN cinch.threads t ON t.no = h.thread
      WHERE h.deleted AND h.nonce = given_nonce);
  END IF;
  IF head.thread IS NULL OR head.deleted THEN RETURN NULL; END IF;
  level := ARRAY[head.thread];
  family := level;
  -- A child can't be created while its parent's head is locked, so each level is complete.
  LOOP
    SELECT array_agg(c.no) INTO level FROM cinch.threads p JOIN cinch.threads c ON c.parent = p.id
      WHERE p.no = ANY (level) AND c.subagent AND NOT c.deleted;
    EXIT WHEN level IS NULL;
    PERFORM 1 FROM cinch.heads h WHERE h.thread = ANY (level) ORDER BY h.thread FOR UPDATE;
    family := family || level;
  END LOOP;
  SELECT array_agg(DISTINCT s.journal) INTO journals FROM cinch.segments s WHERE s.thread = ANY (family);
  DELETE FROM cinch.segments s WHERE s.thread = ANY (family);
  UPDATE cinch.threads t SET title = '', folded = '', resource = '', parent = NULL, metadata = '{}', deleted = true,
    version = version + 1, changed = pg_current_xact_id() WHERE t.no = ANY (family);
  UPDATE cinch.heads h SET epoch = epoch + 1, holder = NULL, active = false, awake = false, woken_at = NULL, due_at = NULL, asking = false,
    deleted = true, nonce = given_nonce
    WHERE h.thread = ANY (family);
  DELETE FROM cinch.drafts d WHERE d.thread = ANY (family);
  DELETE FROM cinch.folds f WHERE f.thread = ANY (family);
  PERFORM cinch.purge(journals);
  RETURN (SELECT jsonb_agg(jsonb_build_array(t.no, t.id)) FROM cinch.threads t WHERE t.no = ANY (family));
END $function$;
`;

/** A piece of a draft may be lost with the server, so the commit does not wait for the disk. */
export const SAVE_DRAFT = `
CREATE OR REPLACE FUNCTION cinch.save_draft(given text, me bigint, given_epoch integer, given_n integer, given_body text)
RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO cinch.drafts (thread, epoch, n, body)
    SELECT h.thread, h.epoch, given_n, given_body FROM cinch.heads h
    WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = given) AND h.holder = me AND h.epoch = given_epoch
    ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $function$;
`;

/**
 * Stores the words of a journal's events from `first` to `last`, and returns the first event that is not indexed, or null. No append can come
 * between the check for newer events and the mark.
 */
export const INDEX_WORDS = `
CREATE OR REPLACE FUNCTION cinch.index_words(given bigint, first integer, last integer, entries jsonb)
RETURNS integer LANGUAGE plpgsql AS $function$
DECLARE
  head cinch.heads;
  next_seq integer;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT h.* INTO head FROM cinch.heads h WHERE h.thread = given FOR NO KEY UPDATE;
  SELECT d.from_seq INTO next_seq FROM cinch.dirty d WHERE d.journal = given;
  -- Since the events were read, another process may have indexed them or deleted the thread.
  IF next_seq IS DISTINCT FROM first THEN RETURN next_seq; END IF;
  INSERT INTO cinch.said (journal, seq, part, parts, at, words)
    SELECT given, f.seq, f.part, f.parts, f.at, array_to_tsvector(f.words)
    FROM jsonb_to_recordset(entries) AS f (seq integer, part integer, parts integer, at bigint, words text[])
    WHERE EXISTS (SELECT 1 FROM cinch.events e WHERE e.journal = given AND e.seq = f.seq)
    ON CONFLICT DO NOTHING;
  IF head.last_seq <= last THEN
    DELETE FROM cinch.dirty d WHERE d.journal = given;
    RETURN NULL;
  END IF;
  UPDATE cinch.dirty d SET from_seq = last + 1 WHERE d.journal = given;
  RETURN last + 1;
END $function$;
`;
