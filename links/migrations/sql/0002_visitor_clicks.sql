-- True: claimed. False: the visitor has used its share. NULL: the link cannot be followed now.
-- The lock on the counter serialises the claims of one link; each later statement sees what earlier claims committed.
CREATE FUNCTION links_claim_click(link bigint, visitors bytea[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    share integer;
    secret bytea;
    hashes bytea[];
BEGIN
    PERFORM FROM links_clickcounter WHERE link_id = link FOR NO KEY UPDATE;
    SELECT l.max_clicks_per_visitor INTO share
    FROM links_link l JOIN links_clickcounter c ON c.link_id = l.id
    WHERE l.id = link AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > now())
        AND (l.starts_at IS NULL OR l.starts_at <= now()) AND (l.max_clicks IS NULL OR c.clicks < l.max_clicks)
        AND NOT links_is_banned(l.id, l.owner_id, l.destination, l.other_destinations);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF share IS NOT NULL THEN
        SELECT uuid_send(key) INTO secret FROM links_visitorkey WHERE link_id = link;
        IF NOT FOUND THEN
            INSERT INTO links_visitorkey (link_id) VALUES (link) RETURNING uuid_send(key) INTO secret;
        END IF;
        hashes := ARRAY(
            SELECT sha256(secret || visitor) FROM unnest(visitors) WITH ORDINALITY v (visitor, place) ORDER BY place
        );
        IF share <= (SELECT coalesce(sum(clicks), 0) FROM links_visitorclicks
                     WHERE link_id = link AND visitor = ANY(hashes)) THEN
            RETURN false;
        END IF;
        INSERT INTO links_visitorclicks AS v (link_id, visitor, clicks) VALUES (link, hashes[1], 1)
        ON CONFLICT (link_id, visitor) DO UPDATE SET clicks = v.clicks + 1;
    END IF;
    UPDATE links_clickcounter SET clicks = clicks + 1 WHERE link_id = link;
    RETURN true;
END $$;

-- Without the limit, the service has no reason to recognise visitors.
CREATE FUNCTION links_delete_visitors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM links_visitorkey WHERE link_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER links_delete_visitors AFTER UPDATE ON links_link FOR EACH ROW
    WHEN (OLD.max_clicks_per_visitor IS NOT NULL AND NEW.max_clicks_per_visitor IS NULL)
    EXECUTE FUNCTION links_delete_visitors();
