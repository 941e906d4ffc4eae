/**
 * Functions as format 1 has them. A released migration is never edited: what has changed since is in the file of the function, and the
 * migration to the next format replaces it.
 */
export const BEAT_1 = `
CREATE OR REPLACE FUNCTION cinch.beat(me bigint, watched bigint[], given_address text, is_draining boolean)
RETURNS TABLE (no bigint, beat bigint, locked boolean) LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  INSERT INTO cinch.holders AS o (no, seen, address, draining) VALUES (me, now(), given_address, is_draining)
    ON CONFLICT ON CONSTRAINT holders_pkey DO UPDATE
      SET beat = o.beat + 1, seen = now(), address = given_address, draining = is_draining;
  IF cardinality(watched) = 0 THEN RETURN; END IF;
  RETURN QUERY SELECT o.no, o.beat, CASE WHEN o.locked_since = pg_postmaster_start_time() THEN EXISTS (
      SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND l.classid = 'cinch.holders'::regclass::oid AND l.objid = o.no::integer::oid) END
    FROM cinch.holders o WHERE o.no = ANY (watched);
END $function$;
`;

export const APPEND_MANY_1 = `
CREATE OR REPLACE FUNCTION cinch.append_many(batch jsonb, me bigint, dead jsonb, hashes text[], bytes bytea[])
RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  op record;
  head cinch.heads;
  results jsonb := '[]';
  outcome jsonb;
  beat_now bigint;
  source cinch.heads;
  is_asking boolean;
  is_asked boolean;
  question text;
  rewind jsonb;
  is_listed boolean;
  ref_journals bigint[] := '{}';
  ref_seqs integer[] := '{}';
  ref_hashes text[] := '{}';
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF jsonb_array_length(batch) > 1 THEN
    PERFORM 1 FROM cinch.heads h WHERE h.thread IN
      (SELECT t.no FROM cinch.threads t WHERE t.id IN (SELECT value->>'id' FROM jsonb_array_elements(batch)))
      ORDER BY h.thread FOR NO KEY UPDATE;
  END IF;
  FOR op IN SELECT * FROM jsonb_to_recordset(batch) AS o (
    id text, after integer, count integer, epoch integer, take integer, release boolean, active boolean, awake boolean,
    due_at bigint, is_due_given boolean, driver boolean, nonce bigint, retry boolean, created jsonb, touched_at bigint,
    title text, folded text, questions text[], rewinds jsonb, ends_draft boolean, searched boolean, events jsonb, refs jsonb)
  LOOP
    SELECT h.* INTO head FROM cinch.heads h
      WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = op.id) FOR NO KEY UPDATE;
    outcome := NULL;

    IF op.retry AND head.thread IS NOT NULL THEN
      IF head.nonce = op.nonce OR EXISTS (
        SELECT 1 FROM cinch.events e WHERE e.journal = head.thread AND e.seq = op.after + 1 AND e.nonce = op.nonce)
      THEN
        outcome := jsonb_build_object('kind', 'appended', 'seq', op.after + op.count,
          'epoch', coalesce(op.take + 1, op.epoch, head.epoch), 'no', head.thread, 'listed', true, 'holder', head.holder);
      END IF;
    END IF;
    IF outcome IS NOT NULL THEN
      NULL;
    ELSIF head.deleted OR (head.thread IS NULL AND op.created IS NULL) THEN
      outcome := jsonb_build_object('kind', 'not_found', 'id', op.id);
    ELSIF op.epoch IS NOT NULL AND (head.thread IS NULL OR head.epoch <> op.epoch OR head.holder IS DISTINCT FROM me) THEN
      outcome := '{"kind": "refused"}';
    ELSIF head.thread IS NOT NULL AND (op.created IS NOT NULL OR head.last_seq > op.after) THEN
      outcome := '{"kind": "newer"}';
    ELSIF op.take IS NOT NULL AND (coalesce(head.epoch, 0) <> op.take OR head.holder = me) THEN
      outcome := '{"kind": "refused"}';
    ELSIF op.take IS NOT NULL AND head.holder IS NOT NULL THEN
      SELECT beat INTO beat_now FROM cinch.holders WHERE no = head.holder;
      IF FOUND AND (dead->>(head.holder::text))::bigint IS DISTINCT FROM beat_now THEN
        outcome := '{"kind": "refused"}';
      END IF;
    ELSIF op.driver AND op.epoch IS NULL AND op.take IS NULL THEN
      outcome := '{"kind": "refused"}';
    END IF;
    IF outcome IS NULL AND head.last_seq < op.after THEN
      outcome := jsonb_build_object('kind', 'shorter', 'last', head.last_seq);
    END IF;
    IF outcome->>'kind' = 'refused' THEN
      outcome := outcome || jsonb_build_object('epoch', coalesce(head.epoch, 0), 'holder', head.holder);
    END IF;

    IF outcome IS NULL AND head.thread IS NULL THEN
      IF op.created->>'parent' IS NOT NULL THEN
        PERFORM 1 FROM cinch.heads h WHERE NOT h.deleted
          AND h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = op.created->>'parent') FOR KEY SHARE;
        IF NOT FOUND THEN
          outcome := jsonb_build_object('kind', 'not_found', 'id', op.created->>'parent');
        END IF;
      END IF;
      source := NULL;
      IF outcome IS NULL AND op.created->>'source' IS NOT NULL THEN
        SELECT h.* INTO source FROM cinch.heads h WHERE NOT h.deleted
          AND h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = op.created->>'source') FOR SHARE;
        IF NOT FOUND THEN
          outcome := jsonb_build_object('kind', 'not_found', 'id', op.created->>'source');
        ELSIF source.last_seq < op.after THEN
          outcome := jsonb_build_object('kind', 'no_source', 'last', source.last_seq);
        END IF;
      END IF;
      IF outcome IS NULL THEN
        INSERT INTO cinch.threads (id, title, folded, resource, parent, subagent, created_at, updated_at, touched, metadata,
          version, asked, changed, deleted)
        SELECT op.id, op.created->>'title', op.created->>'folded', coalesce(s.resource, op.created->>'resource'),
          op.created->>'parent', (op.created->>'subagent')::boolean, (op.created->>'at')::bigint, (op.created->>'at')::bigint,
          nextval('cinch.touches'), coalesce(s.metadata, op.created->>'metadata'), 0, 0, pg_current_xact_id(), false
        FROM (SELECT 1) AS one LEFT JOIN cinch.threads s ON s.no = source.thread
        ON CONFLICT (id) DO NOTHING RETURNING no INTO head.thread;
        IF head.thread IS NULL THEN
          outcome := '{"kind": "newer"}';
        ELSE
          INSERT INTO cinch.segments (thread, idx, journal, from_seq, to_seq)
            SELECT head.thread, s.idx, s.journal, s.from_seq, least(s.to_seq, op.after)
            FROM cinch.segments s WHERE s.thread = source.thread AND s.from_seq <= op.after
            UNION ALL SELECT head.thread, 1 + coalesce((SELECT max(s.idx) FROM cinch.segments s WHERE s.thread = source.thread), 0),
              head.thread, op.after + 1, NULL;
          INSERT INTO cinch.heads (thread, last_seq, epoch, holder, active, awake, asking, deleted, nonce)
            VALUES (head.thread, op.after, 0, NULL, false, false, false, false, op.nonce) RETURNING * INTO head;
        END IF;
      END IF;
    END IF;

    IF outcome IS NULL THEN
      IF op.take IS NOT NULL THEN
        -- A holder that was taken for dead has lost its row. Without one it would count as dead at once.
        INSERT INTO cinch.holders (no, seen) VALUES (me, now()) ON CONFLICT DO NOTHING;
      END IF;
      INSERT INTO cinch.events (journal, seq, checksum, input, nonce, body)
        SELECT head.thread, e.seq, e.checksum, e.input, CASE WHEN e.seq = op.after + 1 THEN op.nonce END, e.body
        FROM jsonb_to_recordset(op.events) AS e (seq integer, checksum integer, input integer, body text);
      is_asking := head.asking;
      is_asked := false;
      IF op.questions IS NOT NULL THEN
        FOREACH question IN ARRAY op.questions LOOP
          CONTINUE WHEN question = 'ended' AND NOT is_asking;
          is_asking := question <> 'ended';
          is_asked := true;
        END LOOP;
      END IF;
      is_listed := op.created IS NOT NULL OR op.touched_at IS NOT NULL OR is_asked OR coalesce(op.active <> head.active, false);
      IF is_listed THEN
        UPDATE cinch.threads t SET
          title = coalesce(op.title, title), folded = coalesce(op.folded, folded),
          updated_at = coalesce(op.touched_at, updated_at),
          touched = CASE WHEN op.touched_at IS NULL THEN touched ELSE nextval('cinch.touches') END,
          version = version + 1, asked = CASE WHEN is_asked THEN version + 1 ELSE asked END, changed = pg_current_xact_id()
        WHERE t.no = head.thread;
      END IF;
      UPDATE cinch.heads h SET
        last_seq = op.after + op.count,
        epoch = CASE WHEN op.take IS NULL THEN head.epoch ELSE head.epoch + 1 END,
        holder = CASE WHEN op.release THEN NULL WHEN op.take IS NOT NULL THEN me ELSE head.holder END,
        active = coalesce(op.active, head.active), asking = is_asking, nonce = op.nonce,
        awake = coalesce(op.awake, head.awake),
        woken_at = CASE WHEN NOT coalesce(op.awake, head.awake) THEN NULL WHEN head.awake THEN head.woken_at ELSE clock_timestamp() END,
        due_at = CASE WHEN op.is_due_given THEN op.due_at ELSE head.due_at END
      WHERE h.thread = head.thread;
      IF op.rewinds IS NOT NULL THEN
        FOR rewind IN SELECT value FROM jsonb_array_elements(op.rewinds) LOOP
          PERFORM cinch.rewind_segments(head.thread, (rewind->>0)::integer, (rewind->>1)::integer);
        END LOOP;
      END IF;
      IF op.ends_draft OR op.take IS NOT NULL THEN
        DELETE FROM cinch.drafts d WHERE d.thread = head.thread;
      END IF;
      IF op.searched THEN
        INSERT INTO cinch.dirty (journal, from_seq) VALUES (head.thread, op.after + 1) ON CONFLICT DO NOTHING;
      END IF;
      IF op.refs IS NOT NULL THEN
        SELECT ref_journals || array_agg(head.thread), ref_seqs || array_agg((value->>0)::integer), ref_hashes || array_agg(value->>1)
          INTO ref_journals, ref_seqs, ref_hashes FROM jsonb_array_elements(op.refs);
      END IF;
      outcome := jsonb_build_object('kind', 'appended', 'seq', op.after + op.count,
        'epoch', CASE WHEN op.take IS NULL THEN head.epoch ELSE head.epoch + 1 END, 'no', head.thread,
        'listed', is_listed, 'holder', CASE WHEN op.release THEN NULL WHEN op.take IS NOT NULL THEN me ELSE head.holder END);
      IF op.take IS NOT NULL AND head.holder IS NOT NULL THEN
        DELETE FROM cinch.holders o WHERE o.no = head.holder
          AND NOT EXISTS (SELECT 1 FROM cinch.heads h WHERE h.holder = o.no);
      END IF;
    END IF;
    IF (outcome->>'holder')::bigint <> me THEN
      outcome := outcome || coalesce((SELECT jsonb_build_object('beat', o.beat, 'address', o.address)
        FROM cinch.holders o WHERE o.no = (outcome->>'holder')::bigint), '{}');
    END IF;
    results := results || outcome;
  END LOOP;

  IF cardinality(ref_hashes) > 0 THEN
    INSERT INTO cinch.blobs (hash, bytes)
      SELECT sent.hash, sent.content FROM unnest(hashes, bytes) AS sent (hash, content)
      WHERE sent.hash = ANY (ref_hashes) ORDER BY sent.hash ON CONFLICT DO NOTHING;
    INSERT INTO cinch.blob_refs (journal, seq, hash)
      SELECT r.journal, r.seq, r.hash FROM unnest(ref_journals, ref_seqs, ref_hashes) AS r (journal, seq, hash)
      WHERE EXISTS (SELECT 1 FROM cinch.blobs b WHERE b.hash = r.hash) ORDER BY r.hash ON CONFLICT DO NOTHING;
  END IF;
  RETURN results;
END $function$;
`;

export const DELETE_THREAD_1 = `
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
      WHERE h.thread = head.thread);
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
