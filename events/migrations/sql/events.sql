-- The table of events. A position is a transaction id plus an offset. All events below events_horizon() are committed or
-- never will be, so whoever reads up to there in the order of position and id misses none.

-- The database's clock, so that positions are above those of any earlier life of the database: a restore into another
-- cluster, or to an earlier time, begins with lower transaction ids. No database has 2^29 transactions a second.
CREATE FUNCTION events_new_offset() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * (1 << 29))::bigint - pg_current_xact_id()::text::bigint
$$;
-- Not models of Django, so that nothing that empties the tables of models empties these.
CREATE TABLE events_offset (value bigint NOT NULL, server text);
COMMENT ON TABLE events_offset IS 'One row: what makes a transaction id the position of an event.';
COMMENT ON COLUMN events_offset.value IS 'Added to transaction ids.';
COMMENT ON COLUMN events_offset.server IS 'System and timeline of the database. Null: not known yet.';
INSERT INTO events_offset (value) VALUES (events_new_offset());
CREATE TABLE events_clock (
    type text PRIMARY KEY, reached timestamptz NOT NULL DEFAULT now(), link_id bigint NOT NULL DEFAULT 9223372036854775807
);
COMMENT ON TABLE events_clock IS 'Up to when the clock has emitted events that no change causes, such as the end of a link.';
COMMENT ON COLUMN events_clock.type IS 'Type of events.';
COMMENT ON COLUMN events_clock.reached IS 'Emitted up to this time, inclusive.';
COMMENT ON COLUMN events_clock.link_id IS 'Emitted up to this link of that time, inclusive.';
INSERT INTO events_clock (type) VALUES ('link.started'), ('link.expired'), ('key.expiring');

CREATE FUNCTION events_position() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT value + pg_current_xact_id()::text::bigint FROM events_offset
$$;
-- STABLE: with the snapshot of the query that reads events.
CREATE FUNCTION events_horizon() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT value + pg_snapshot_xmin(pg_current_snapshot())::text::bigint FROM events_offset
$$;

-- Raises the offset on another server or timeline. The lock waits for transactions that use the former offset. Some
-- providers lack the functions that identify a server: there, an operator sets the server to NULL after a restore.
CREATE FUNCTION events_align() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    identity text := 'unknown';
BEGIN
    BEGIN
        SELECT system_identifier || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) INTO identity
        FROM pg_control_system();
    EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
    END;
    IF (SELECT server IS NOT DISTINCT FROM identity FROM events_offset) THEN
        RETURN;
    END IF;
    LOCK TABLE events_event IN SHARE MODE;
    UPDATE events_offset SET server = identity, value = greatest(value, events_new_offset())
    WHERE server IS DISTINCT FROM identity;
END $$;

-- A UUIDv7 with microseconds, so that the ids of a transaction have the order of their creation.
CREATE FUNCTION events_new_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (
        lpad(to_hex(microseconds / 1000), 12, '0') || '7' || lpad(to_hex(microseconds % 1000 * 4096 / 1000), 3, '0')
        || right(replace(gen_random_uuid()::text, '-', ''), 16)
    )::uuid FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS microseconds) clock
$$;

-- The default partition holds events of days without a partition. No foreign keys, so that a day is dropped at once.
CREATE TABLE events_event (
    id uuid NOT NULL DEFAULT events_new_id(),
    position bigint NOT NULL DEFAULT events_position(),
    workspace_id bigint NOT NULL,
    type text NOT NULL,
    link_id bigint,
    time timestamptz NOT NULL DEFAULT now(),
    -- Not jsonb, which takes longer to store: hardly anything reads a part of it.
    data json NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX event_workspace_position ON events_event (workspace_id, position, id);
CREATE INDEX event_position ON events_event (position);
CREATE TABLE events_event_default PARTITION OF events_event DEFAULT;
COMMENT ON TABLE events_event_default IS 'Events of days without a partition.';
COMMENT ON TABLE events_event IS 'Events of workspaces that listen.';
COMMENT ON COLUMN events_event.id IS 'API id: a UUIDv7.';
COMMENT ON COLUMN events_event.position IS 'Transaction id, raised by the offset of events_offset.';
COMMENT ON COLUMN events_event.workspace_id IS 'Workspace.';
COMMENT ON COLUMN events_event.type IS 'Kind of object and of event: link.created.';
COMMENT ON COLUMN events_event.link_id IS 'Link, for filters; it may be deleted. Null: none.';
COMMENT ON COLUMN events_event.time IS 'When it was stored.';
COMMENT ON COLUMN events_event.data IS 'What the event says: see the guide.';

-- SQL statements delete workspaces without Django.
ALTER TABLE events_listener ADD CONSTRAINT events_listener_workspace_id_fk_accounts_workspace_id
    FOREIGN KEY (workspace_id) REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;

CREATE FUNCTION events_delete_listener() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events_listener WHERE workspace_id = NEW.workspace_id;
    RETURN NULL;
END $$;
CREATE TRIGGER events_delete_listener AFTER INSERT OR UPDATE ON events_listener FOR EACH ROW
    WHEN (NEW.feed_types = '{}' AND NEW.webhook_types = '{}') EXECUTE FUNCTION events_delete_listener();

CREATE FUNCTION events_listens(workspace bigint, of_type text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM events_listener
        WHERE workspace_id = workspace AND (of_type = ANY (feed_types) OR of_type = ANY (webhook_types))
    );
END $$;

-- Stores an event in the caller's transaction, if the workspace listens. A caller whose data take time asks first.
CREATE FUNCTION events_emit(workspace bigint, of_type text, link bigint, data jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF events_listens(workspace, of_type) THEN
        INSERT INTO events_event (workspace_id, type, link_id, data) VALUES (workspace, of_type, link, data);
    END IF;
END $$;

-- The events of a workspace are deleted with it.
CREATE FUNCTION events_delete_with_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events_event WHERE workspace_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER events_delete_with_workspace AFTER DELETE ON accounts_workspace
    FOR EACH ROW EXECUTE FUNCTION events_delete_with_workspace();
