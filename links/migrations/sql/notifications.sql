-- Every change of the meaning of a code or a host reaches every host of the service: PostgreSQL delivers NOTIFY with the
-- commit, whichever program makes the change. New codes send no notification. Hosts cache unknown codes only briefly,
-- and a NOTIFY in each creation would serialise the commits.

-- Sends one message per code or host; for more than 500, the message '*' that invalidates every cache entry.
CREATE FUNCTION links_notify(messages text[]) RETURNS void LANGUAGE sql AS $$
    SELECT count(pg_notify('destinations', message)) FROM (
        SELECT unnest(messages) WHERE cardinality(messages) <= 500
        UNION ALL SELECT '*' WHERE cardinality(messages) > 500
    ) sent (message)
$$;

-- All codes of a link. VOLATILE, so that each call sees what has been committed since the calling statement began.
CREATE FUNCTION links_codes_of(link bigint) RETURNS text[] LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off AS $$
BEGIN
    RETURN ARRAY(SELECT code FROM links_code WHERE link_id = link);
END $$;

-- An array instead of a join, so that no cached plan scans all codes.
CREATE FUNCTION links_notify_link_changes() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    -- A change of tags in all links concerns no visitor. A condition of the trigger would be parsed by every update.
    IF current_setting('links.changes_tags', true) IS DISTINCT FROM 'on' THEN
        PERFORM links_notify(ARRAY(
            SELECT 'code ' || code FROM links_code WHERE link_id = ANY (ARRAY(SELECT id FROM new_rows LIMIT 501))
            LIMIT 501
        ));
    END IF;
    RETURN NULL;
END $$;

-- Visitors cannot distinguish a retired code from an unknown one.
CREATE FUNCTION links_notify_code_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM links_notify(ARRAY(SELECT 'code ' || code FROM old_rows WHERE kind <> 'retired' LIMIT 501));
    RETURN NULL;
END $$;

CREATE FUNCTION links_notify_domain_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM links_notify(ARRAY(SELECT 'host ' || host FROM old_rows LIMIT 501));
    RETURN NULL;
END $$;

-- A ban can affect any number of codes.
CREATE FUNCTION links_notify_ban_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('destinations', '*');
    RETURN NULL;
END $$;

CREATE TRIGGER links_notify_update AFTER UPDATE ON links_link
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_link_changes();
CREATE TRIGGER links_notify_update AFTER UPDATE ON links_code
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_code_changes();
CREATE TRIGGER links_notify_delete AFTER DELETE ON links_code
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_code_changes();
CREATE TRIGGER links_notify_update AFTER UPDATE ON domains_domain
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_domain_changes();
CREATE TRIGGER links_notify_delete AFTER DELETE ON domains_domain
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_domain_changes();
-- For each row, so that a deletion of links or accounts without bans, which cascades to these tables, sends nothing.
CREATE TRIGGER links_notify_change AFTER INSERT OR UPDATE OR DELETE ON bans_ban
    FOR EACH ROW EXECUTE FUNCTION links_notify_ban_changes();
CREATE TRIGGER links_notify_change AFTER INSERT OR UPDATE OR DELETE ON links_linkban
    FOR EACH ROW EXECUTE FUNCTION links_notify_ban_changes();
