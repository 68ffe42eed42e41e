-- The history of the URLs to which the branches of a link led. Links without branches and updates of other columns call
-- no function.

-- The entries of a link's rules and split.
CREATE FUNCTION links_branches(rules jsonb, split jsonb)
RETURNS TABLE (number smallint, branch uuid, name text, url text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (entry ->> 'number')::smallint, (entry ->> '_id')::uuid, entry ->> 'name', entry ->> 'href'
    FROM jsonb_array_elements(rules || split) entry
$$;

-- Where a link itself leads: while its destination is dead, to its fallback.
CREATE FUNCTION links_led_to(link links_link) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN link.is_dead THEN coalesce(link.fallback_url, link.destination) ELSE link.destination END
$$;

CREATE FUNCTION links_record_branches(link links_link, moment timestamptz) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
    UPDATE links_route r SET until = moment
    WHERE r.link_id = link.id AND r.number > 0 AND r.until IS NULL AND NOT EXISTS (
        SELECT FROM links_branches(link.rules, link.split) b
        WHERE b.number = r.number AND b.branch = r.branch AND b.url = r.url
    );
    UPDATE links_route r SET name = b.name FROM links_branches(link.rules, link.split) b
    WHERE r.link_id = link.id AND r.number = b.number AND r.until IS NULL AND r.name <> b.name;
    INSERT INTO links_route (link_id, number, branch, name, url, since)
    SELECT link.id, b.number, b.branch, b.name, b.url, moment FROM links_branches(link.rules, link.split) b
    WHERE NOT EXISTS (
        SELECT FROM links_route r WHERE r.link_id = link.id AND r.number = b.number AND r.until IS NULL
    );
END $$;

-- Of new links. An undeleted one has former branches.
CREATE FUNCTION links_begin_branches(links bigint[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM links_record_branches(l, clock_timestamp()) FROM links_link l WHERE l.id = ANY (links);
END $$;

CREATE FUNCTION links_record_routes() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    -- Not the start of the transaction: visitors may have followed the former URLs since then.
    moment timestamptz := clock_timestamp();
BEGIN
    PERFORM links_record_branches(NEW, moment);
    IF links_led_to(OLD) <> links_led_to(NEW) THEN
        UPDATE links_route SET until = moment WHERE link_id = NEW.id AND number = 0 AND until IS NULL;
        IF NOT FOUND THEN
            INSERT INTO links_route (link_id, number, name, url, since, until)
            VALUES (NEW.id, 0, '', links_led_to(OLD), OLD.created_at, moment);
        END IF;
        INSERT INTO links_route (link_id, number, name, url, since)
        VALUES (NEW.id, 0, '', links_led_to(NEW), moment);
    END IF;
    RETURN NULL;
END $$;

-- A statement parses the conditions of all its triggers, except for columns that it does not set. Each of these can change
-- where a link leads, health_check by the trigger links_revive.
CREATE TRIGGER links_record_changed_routes
    AFTER UPDATE OF rules, split, destination, target_url, health_check, is_dead, fallback_url ON links_link FOR EACH ROW
    WHEN (
        OLD.rules <> NEW.rules OR OLD.split <> NEW.split OR OLD.destination <> NEW.destination
        OR OLD.is_dead <> NEW.is_dead OR NEW.is_dead AND OLD.fallback_url IS DISTINCT FROM NEW.fallback_url
    )
    EXECUTE FUNCTION links_record_routes();
