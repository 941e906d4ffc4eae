/** What an append with this nonce has done, or null if it was not written: its answer may have been lost, and it is asked for again. */
const EARLIER_OUTCOME = `
CREATE OR REPLACE FUNCTION cinch.earlier_outcome(given text, given_nonce bigint, after integer, count integer, led_to integer)
RETURNS jsonb LANGUAGE sql AS $function$
  SELECT jsonb_build_object('kind', 'appended', 'seq', after + count, 'epoch', coalesce(led_to, h.epoch), 'no', h.thread,
    'listed', true, 'holder', h.holder)
  FROM cinch.heads h
  WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = given) AND (h.nonce = given_nonce OR EXISTS (
    SELECT 1 FROM cinch.events e WHERE e.journal = h.thread AND e.seq = after + 1 AND e.nonce = given_nonce))
$function$;
`;

/**
 * `append_many` runs a batch of appends in one transaction: the checks of `Store.append` in their order, then the writes. An append that is
 * refused, behind, or of a thread that does not exist is an outcome, and the others are written all the same. It takes its locks in the order
 * of the threads, then those on holders, and those on blobs last and in the order of their hashes, so that two batches can't block each other.
 *
 * Most appends are a driver's, and change nothing that lists show. One statement checks such an append and updates its head. If the head does
 * not fit, the append is judged as all others.
 */
const APPEND_BATCH = `
CREATE OR REPLACE FUNCTION cinch.append_many(batch jsonb, me bigint, dead jsonb, hashes text[], bytes bytea[])
RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  lock_limit text;
  op record;
  thread_no bigint;
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
  is_taking boolean := false;
  replaced bigint[];
  ref_journals bigint[];
  ref_seqs integer[];
  ref_hashes text[];
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  IF current_setting('lock_timeout') = '0' THEN
    -- Not PERFORM, which runs a query.
    lock_limit := set_config('lock_timeout', '1s', true);
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
    IF op.epoch IS NOT NULL AND op.release IS NULL AND op.created IS NULL AND op.questions IS NULL AND op.touched_at IS NULL
      AND op.refs IS NULL AND NOT op.ends_draft THEN
      UPDATE cinch.heads h SET last_seq = op.after + op.count, nonce = op.nonce, awake = coalesce(op.awake, h.awake),
        woken_at = CASE WHEN NOT coalesce(op.awake, h.awake) THEN NULL WHEN h.awake THEN h.woken_at ELSE clock_timestamp() END,
        due_at = CASE WHEN op.is_due_given THEN op.due_at ELSE h.due_at END
      WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = op.id)
        AND h.epoch = op.epoch AND h.holder = me AND h.last_seq = op.after AND h.active = coalesce(op.active, h.active)
      RETURNING h.thread INTO thread_no;
      IF FOUND THEN
        INSERT INTO cinch.events (journal, seq, checksum, input, nonce, body)
          SELECT thread_no, e.seq, e.checksum, e.input, CASE WHEN e.seq = op.after + 1 THEN op.nonce END, e.body
          FROM jsonb_to_recordset(op.events) AS e (seq integer, checksum integer, input integer, body text);
        IF op.searched THEN
          INSERT INTO cinch.dirty (journal, from_seq) VALUES (thread_no, op.after + 1) ON CONFLICT DO NOTHING;
        END IF;
        results := results || jsonb_build_object('kind', 'appended', 'seq', op.after + op.count, 'epoch', op.epoch, 'no', thread_no,
          'listed', false, 'holder', me);
        CONTINUE;
      END IF;
    END IF;

    SELECT h.* INTO head FROM cinch.heads h
      WHERE h.thread = (SELECT t.no FROM cinch.threads t WHERE t.id = op.id) FOR NO KEY UPDATE;
    outcome := NULL;

    IF op.retry THEN
      outcome := cinch.earlier_outcome(op.id, op.nonce, op.after, op.count, coalesce(op.take + 1, op.epoch));
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
          -- Of two attempts of one creation, the second has waited here for the commit of the first.
          outcome := coalesce(cinch.earlier_outcome(op.id, op.nonce, op.after, op.count, op.take + 1), '{"kind": "newer"}');
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
      is_taking := is_taking OR op.take IS NOT NULL;
      IF op.take IS NOT NULL AND head.holder IS NOT NULL THEN replaced := replaced || head.holder; END IF;
    END IF;
    IF (outcome->>'holder')::bigint <> me THEN
      outcome := outcome || coalesce((SELECT jsonb_build_object('beat', o.beat, 'address', o.address)
        FROM cinch.holders o WHERE o.no = (outcome->>'holder')::bigint), '{}');
    END IF;
    results := results || outcome;
  END LOOP;

  IF is_taking THEN PERFORM cinch.keep_holder(me); END IF;
  IF replaced IS NOT NULL THEN PERFORM cinch.remove_holders(replaced); END IF;
  IF ref_hashes IS NOT NULL THEN
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

export const APPEND_MANY = EARLIER_OUTCOME + APPEND_BATCH;
