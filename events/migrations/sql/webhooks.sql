-- Endpoints. SQL statements delete workspaces and endpoints without Django.
ALTER TABLE events_webhook ADD CONSTRAINT events_webhook_workspace_id_fk_accounts_workspace_id
    FOREIGN KEY (workspace_id) REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE events_cursor ADD CONSTRAINT events_cursor_webhook_id_fk_events_webhook_id
    FOREIGN KEY (webhook_id) REFERENCES events_webhook (id) ON DELETE CASCADE;
ALTER TABLE events_delivery ADD CONSTRAINT events_delivery_webhook_id_fk_events_webhook_id
    FOREIGN KEY (webhook_id) REFERENCES events_webhook (id) ON DELETE CASCADE;

INSERT INTO accounts_historyname (table_name, name, columns, form) VALUES
    ('events_webhook', 'name', '{name}', 'plain'),
    ('events_webhook', 'format', '{format}', 'plain'),
    ('events_webhook', 'url', '{sealed_url}', 'secret'),
    ('events_webhook', 'host', '{host}', 'plain'),
    ('events_webhook', 'memberIds', '{member_ids}', 'plain'),
    ('events_webhook', 'types', '{types}', 'plain'),
    ('events_webhook', 'tags', '{tags}', 'plain'),
    ('events_webhook', 'urlIds', '{url_ids}', 'plain'),
    ('events_webhook', 'domainIds', '{domain_ids}', 'plain'),
    ('events_webhook', 'disabledReason', '{disabled_reason}', 'plain');

CREATE TRIGGER events_record_new_row AFTER INSERT ON events_webhook FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('webhook.created', 'workspace_id');
-- The deliverer writes the other columns, often.
CREATE TRIGGER events_record_row
    AFTER UPDATE OF name, sealed_url, host, member_ids, types, tags, url_ids, domain_ids, disabled_reason
    ON events_webhook FOR EACH ROW EXECUTE FUNCTION accounts_record_row('webhook.updated', 'workspace_id');
CREATE TRIGGER events_record_former_row AFTER DELETE ON events_webhook FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('webhook.deleted', 'workspace_id');

-- What the workspace listens to, and the cursors of the endpoint: one for clicks, and one for everything else. A new
-- cursor begins now; what happened while the endpoint was disabled is sent only by a replay, and what waited then fails.
CREATE FUNCTION events_follow_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner bigint := coalesce(NEW.workspace_id, OLD.workspace_id);
BEGIN
    IF TG_OP <> 'DELETE' THEN
        DELETE FROM events_cursor WHERE webhook_id = NEW.id AND (
            NEW.disabled_reason IS NOT NULL
            OR kind = 'changes' AND NEW.types <@ '{link.clicked}'
            OR kind = 'clicks' AND 'link.clicked' <> ALL (NEW.types)
        );
        -- After that statement has waited for whoever moves a cursor. The outcome of messages on their way will be stored.
        IF TG_OP = 'UPDATE' AND NEW.disabled_reason IS DISTINCT FROM OLD.disabled_reason THEN
            UPDATE events_delivery SET status = 'failed', leased_until = NULL,
                error = CASE WHEN http_status IS NULL THEN coalesce(error, 'The webhook was disabled.') ELSE error END
            WHERE webhook_id = NEW.id AND status = 'pending' AND coalesce(leased_until <= now(), true);
        END IF;
        IF NEW.disabled_reason IS NULL THEN
            INSERT INTO events_cursor (webhook_id, kind, position, event_id)
            SELECT NEW.id, kind, events_horizon(), '00000000-0000-0000-0000-000000000000'
            FROM (VALUES ('changes', NOT NEW.types <@ '{link.clicked}'), ('clicks', 'link.clicked' = ANY (NEW.types)))
                kinds (kind, is_wanted)
            WHERE is_wanted ON CONFLICT DO NOTHING;
            -- Also locks the row: the next statement sees the endpoints of all who held the lock before.
            INSERT INTO events_listener AS l (workspace_id, webhook_types) VALUES (owner, NEW.types)
            ON CONFLICT (workspace_id) DO UPDATE SET webhook_types = l.webhook_types;
        END IF;
    END IF;
    PERFORM FROM events_listener WHERE workspace_id = owner FOR NO KEY UPDATE;
    UPDATE events_listener SET webhook_types = ARRAY(
        SELECT DISTINCT unnest(types) FROM events_webhook
        WHERE workspace_id = owner AND disabled_reason IS NULL ORDER BY 1
    ) WHERE workspace_id = owner;
    RETURN NULL;
END $$;
CREATE TRIGGER events_follow_webhook AFTER INSERT OR DELETE OR UPDATE OF types, disabled_reason ON events_webhook
    FOR EACH ROW EXECUTE FUNCTION events_follow_webhook();
