/**
 * The threads that need a driver and have none, and for how long. `dead` has the beats at which holders were found dead: one with another
 * beat lives. Few rows of a large table are asked for, which the server does not know before it has analysed the table: hence the settings,
 * and `ROWS`. Without them, a look would read all threads as soon as one is awake.
 * A time in the future means that the clock of the server was set back, and says nothing about how long ago it was.
 */
const WAITING = `
CREATE OR REPLACE FUNCTION cinch.waiting(dead jsonb, free_ms float8)
RETURNS TABLE (thread bigint, ms float8) LANGUAGE plpgsql STABLE ROWS 20
  SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $function$
DECLARE
  living bigint[] := ARRAY(SELECT o.no FROM cinch.holders o WHERE (dead->>(o.no::text))::bigint IS DISTINCT FROM o.beat);
  time timestamptz := clock_timestamp();
  time_ms float8 := extract(epoch FROM time) * 1000;
BEGIN
  RETURN QUERY SELECT w.thread, greatest(0, max(w.ms)) FROM (
    SELECT h.thread, extract(epoch FROM time - h.woken_at)::float8 * 1000 AS ms, h.holder FROM cinch.heads h
      WHERE h.awake AND (h.holder IS NOT NULL OR h.woken_at > time OR h.woken_at <= time - free_ms * interval '1 ms')
    UNION ALL SELECT h.thread, time_ms - h.due_at, h.holder FROM cinch.heads h WHERE h.due_at <= time_ms
  ) AS w WHERE w.holder IS NULL OR w.holder <> ALL (living) GROUP BY w.thread;
END $function$;
`;

const DRIVEN = `
CREATE OR REPLACE FUNCTION cinch.driven(dead jsonb)
RETURNS TABLE (resource text, count bigint) LANGUAGE sql STABLE ROWS 20
  SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $function$
  SELECT d.resource, count(*) FROM (
    SELECT (SELECT t.resource FROM cinch.threads t WHERE t.no = h.thread) AS resource
    FROM cinch.holders o JOIN cinch.heads h ON h.holder = o.no
    WHERE h.awake AND (dead->>(o.no::text))::bigint IS DISTINCT FROM o.beat
  ) AS d GROUP BY d.resource
$function$;
`;

/** Returns the threads as \`[id, resource, ms]\`, and the other holders of leases. */
const STRANDED = `
CREATE OR REPLACE FUNCTION cinch.stranded(
  me bigint, dead jsonb, free_ms float8, most_per_resource integer, exempt text[], most integer)
RETURNS TABLE (threads jsonb, holders bigint[]) LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $function$
BEGIN
  holders := ARRAY(SELECT o.no FROM cinch.holders o WHERE o.no <> me
    AND EXISTS (SELECT 1 FROM cinch.heads h WHERE h.holder = o.no));
  SELECT jsonb_agg(jsonb_build_array(p.id, p.resource, p.ms) ORDER BY p.place, p.ms DESC, p.no) INTO threads FROM (
    SELECT * FROM (
      SELECT t.no, t.id, t.resource, w.ms,
        coalesce(d.count, 0) + row_number() OVER (PARTITION BY t.resource ORDER BY w.ms DESC, t.no) AS place
      FROM cinch.waiting(dead, free_ms) w JOIN cinch.threads t ON t.no = w.thread
        LEFT JOIN cinch.driven(dead) d ON d.resource = t.resource
      WHERE t.id <> ALL (exempt)
    ) AS placed WHERE place <= coalesce(most_per_resource, 2147483647) ORDER BY place, ms DESC, no LIMIT most
  ) AS p;
  RETURN NEXT;
END $function$;
`;

export const WAITING_FUNCTIONS = [WAITING, DRIVEN, STRANDED].join("\n");
