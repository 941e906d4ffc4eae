/** Whether the direct connection of a holder is open. */
const HAS_LOCK = `
CREATE OR REPLACE FUNCTION cinch.has_lock(holder bigint) RETURNS boolean LANGUAGE sql STABLE AS $function$
  SELECT EXISTS (
    SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.classid = 'cinch.holders'::regclass::oid AND l.objid = holder::integer::oid)
$function$;
`;

/**
 * Makes sure that the holder has a row, and that none is deleted before this transaction ends, in which it takes a lease: without a row it
 * would count as dead at once. It has lost its row if it was taken for dead, or was idle for long. The lock does not hold up its beats.
 */
const KEEP_HOLDER = `
CREATE OR REPLACE FUNCTION cinch.keep_holder(me bigint) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  LOOP
    PERFORM 1 FROM cinch.holders o WHERE o.no = me FOR KEY SHARE;
    EXIT WHEN FOUND;
    INSERT INTO cinch.holders (no, seen, locked_since)
      VALUES (me, now(), CASE WHEN cinch.has_lock(me) THEN pg_postmaster_start_time() END) ON CONFLICT DO NOTHING;
  END LOOP;
END $function$;
`;

/**
 * Deletes those of the holders that have no lease. One whose row is locked beats or takes a lease, so it lives. A lease that was taken before
 * the lock is seen only by a statement that begins after it.
 */
const REMOVE_HOLDERS = `
CREATE OR REPLACE FUNCTION cinch.remove_holders(given bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
  unlocked bigint[] := ARRAY(SELECT o.no FROM cinch.holders o WHERE o.no = ANY (given) ORDER BY o.no FOR UPDATE SKIP LOCKED);
BEGIN
  DELETE FROM cinch.holders o WHERE o.no = ANY (unlocked) AND NOT EXISTS (SELECT 1 FROM cinch.heads h WHERE h.holder = o.no);
END $function$;
`;

/**
 * Shows that the holder lives, and returns what is known of the watched ones. `locked`: the holder's direct connection is open. Null: it has
 * not had its lock since the server started, so the lock shows nothing.
 */
const BEAT = `
CREATE OR REPLACE FUNCTION cinch.beat(me bigint, watched bigint[], given_address text, is_draining boolean)
RETURNS TABLE (no bigint, beat bigint, locked boolean) LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE cinch.holders o SET beat = o.beat + 1, seen = now(), address = given_address, draining = is_draining WHERE o.no = me;
  IF NOT FOUND THEN
    INSERT INTO cinch.holders AS o (no, seen, locked_since, address, draining)
      VALUES (me, now(), CASE WHEN cinch.has_lock(me) THEN pg_postmaster_start_time() END, given_address, is_draining)
      ON CONFLICT ON CONSTRAINT holders_pkey DO UPDATE
        SET beat = o.beat + 1, seen = now(), address = given_address, draining = is_draining;
  END IF;
  IF cardinality(watched) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT o.no, o.beat, CASE WHEN o.locked_since = pg_postmaster_start_time() THEN cinch.has_lock(o.no) END
    FROM cinch.holders o WHERE o.no = ANY (watched);
END $function$;
`;

export const HOLDER_FUNCTIONS = [HAS_LOCK, KEEP_HOLDER, REMOVE_HOLDERS, BEAT].join("\n");
