-- Events of changes, from the history. The function of links is in a later migration.
CREATE FUNCTION events_emit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Not in a WHEN clause, nor a trigger for each kind: a statement parses the clauses of all triggers, which takes longer.
    IF NOT EXISTS (SELECT FROM events_listener WHERE workspace_id = NEW.owner_id) THEN
        RETURN NULL;
    END IF;
    IF NEW.action IN ('link.updated', 'link.moved_out', 'link.moved_in', 'link.banned', 'workspace.banned') THEN
        PERFORM links_emit_change(NEW);
    ELSIF NEW.action IN ('member.added', 'member.removed', 'key.created', 'key.deleted') THEN
        PERFORM events_emit(
            NEW.owner_id,
            CASE NEW.action
                WHEN 'member.added' THEN 'member.joined'
                WHEN 'member.removed' THEN 'member.left'
                WHEN 'key.deleted' THEN 'key.revoked'
                ELSE 'key.created'
            END,
            NULL,
            jsonb_build_object(
                split_part(NEW.action, '.', 1), jsonb_build_object('id', NEW.object_id) || NEW.before || NEW.after
            )
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER events_emit_change AFTER INSERT ON accounts_change FOR EACH ROW EXECUTE FUNCTION events_emit_change();

-- Keys that expire within a week: once, when the week begins.
CREATE FUNCTION events_emit_expiring_keys(until timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := (SELECT reached FROM events_clock WHERE type = 'key.expiring' FOR UPDATE);
BEGIN
    PERFORM events_emit(k.workspace_id, 'key.expiring', NULL, jsonb_build_object(
        'key', jsonb_build_object('id', k.public_id) || accounts_recorded('accounts_scopedkey', to_jsonb(k))
    ))
    FROM accounts_scopedkey k JOIN events_listener e USING (workspace_id)
    WHERE k.expires_at > since + interval '7 days' AND k.expires_at <= until + interval '7 days';
    UPDATE events_clock SET reached = until WHERE type = 'key.expiring';
END $$;

-- Emits what no change causes, in the caller's transaction, with a limit. Returns whether more is waiting. Any number of
-- clocks may run: each waits for the others' commits, and continues where they stopped. The functions of links are in a
-- later migration.
CREATE FUNCTION events_tick(most integer, until timestamptz DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM events_clock WHERE type = 'key.expiring' FOR UPDATE;
    -- Not before the lock.
    until := coalesce(until, clock_timestamp());
    IF NOT EXISTS (SELECT FROM events_listener) THEN
        PERFORM pg_advisory_xact_lock(5823148);
        UPDATE events_clock SET reached = until, link_id = 9223372036854775807
        WHERE reached < until - interval '1 minute';
        RETURN false;
    END IF;
    PERFORM events_emit_expiring_keys(until);
    RETURN greatest(
        links_emit_passed('link.started', 'starts_at', until, most),
        links_emit_passed('link.expired', 'expires_at', until, most)
    ) = most;
END $$;
