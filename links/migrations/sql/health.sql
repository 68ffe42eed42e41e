-- The checks of destinations: what they have found concerns one destination, and holds as long as they go on.

-- The end of a check's finding, in the row that redirects read.
CREATE FUNCTION links_revive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_dead := false;
    RETURN NEW;
END $$;
CREATE TRIGGER links_revive BEFORE UPDATE OF destination, target_url, health_check ON links_link FOR EACH ROW
    WHEN (
        NEW.is_dead AND (
            OLD.destination <> NEW.destination
            OR OLD.health_check IS DISTINCT FROM NEW.health_check AND coalesce(NEW.health_check, 'off') = 'off'
        )
    ) EXECUTE FUNCTION links_revive();

CREATE FUNCTION links_forget_health() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.destination <> NEW.destination OR coalesce(NEW.health_check, 'off') = 'off' THEN
        UPDATE links_linkhealth SET status = 'unknown', checked_at = NULL, problem = NULL, failures = 0,
            failing_since = NULL, is_requested = false
        WHERE link_id = NEW.id;
    END IF;
    IF NEW.health_check <> 'off' THEN
        INSERT INTO links_linkhealth (link_id, owner_id, due_at) VALUES (NEW.id, NEW.owner_id, now())
        ON CONFLICT (link_id) DO UPDATE SET due_at = now();
    ELSE
        -- With the default of the workspace, the next check finds out whether there are any.
        UPDATE links_linkhealth SET due_at = CASE WHEN NEW.health_check IS NULL THEN now() END WHERE link_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER links_forget_health AFTER UPDATE OF destination, target_url, health_check ON links_link FOR EACH ROW
    WHEN (OLD.destination <> NEW.destination OR OLD.health_check IS DISTINCT FROM NEW.health_check)
    EXECUTE FUNCTION links_forget_health();

-- Rows that name the workspace of their link move with it.
CREATE FUNCTION links_move_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE links_linkhealth SET owner_id = NEW.owner_id WHERE link_id = NEW.id;
    UPDATE links_formerutm SET owner_id = NEW.owner_id WHERE link_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER links_move_rows AFTER UPDATE OF owner_id ON links_link FOR EACH ROW
    WHEN (OLD.owner_id <> NEW.owner_id) EXECUTE FUNCTION links_move_rows();

-- Nobody would find out that these destinations have recovered.
CREATE FUNCTION links_end_checks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    dead bigint[] := ARRAY(SELECT id FROM links_link WHERE owner_id = NEW.id AND is_dead AND health_check IS NULL);
BEGIN
    UPDATE links_link SET is_dead = false WHERE id = ANY (dead);
    UPDATE links_linkhealth SET status = 'unknown', failures = 0, failing_since = NULL WHERE link_id = ANY (dead);
    RETURN NULL;
END $$;
CREATE TRIGGER links_end_checks AFTER UPDATE OF health_check ON accounts_workspace FOR EACH ROW
    WHEN (OLD.health_check <> NEW.health_check AND NEW.health_check = 'off') EXECUTE FUNCTION links_end_checks();
