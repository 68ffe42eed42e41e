-- Why visitors may not follow a link now, whoever they are; NULL: they may. The reasons and their order are those of
-- links/availability.py. The server inlines the function, because it uses a parameter that may be costly only once.
-- `ban_reason` is NULL without a ban, otherwise as from links_ban_reason.
CREATE FUNCTION links_closed_by(
    ban_reason text, is_active boolean, starts_at timestamptz, expires_at timestamptz, max_clicks integer, clicks bigint
) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE ban_reason WHEN 'legal' THEN 'legal' WHEN 'other' THEN 'banned' ELSE CASE
        WHEN NOT is_active THEN 'disabled'
        WHEN starts_at > now() THEN 'not_started'
        WHEN expires_at <= now() THEN 'expired'
        WHEN clicks >= max_clicks THEN 'limit_reached'
    END END
$$;

-- What owners and operators learn: links_closed_by in other words, and which of two things stops a link whose domain is
-- not active. The server inlines this function, too.
CREATE FUNCTION links_status(
    is_banned boolean, is_active boolean, domain_status text, starts_at timestamptz, expires_at timestamptz,
    max_clicks integer, clicks bigint
) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN is_banned THEN 'banned'
        WHEN NOT is_active THEN 'disabled'
        WHEN domain_status <> 'active' THEN 'domain_inactive'
        ELSE CASE links_closed_by(NULL, true, starts_at, expires_at, max_clicks, clicks)
            WHEN 'not_started' THEN 'scheduled'
            WHEN 'expired' THEN 'expired'
            WHEN 'limit_reached' THEN 'limit_reached'
            ELSE 'active'
        END
    END
$$;

-- NULL: claimed. Otherwise the reason why not, as from links_closed_by; 'visitor_limit_reached' if the visitor has used
-- its share, and 'deleted' without such a link. The lock on the counter serialises the claims of one link; each later
-- statement sees what earlier claims committed.
CREATE FUNCTION links_claim(link bigint, visitors bytea[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    reason text;
    share integer;
    secret bytea;
    hashes bytea[];
BEGIN
    PERFORM FROM links_clickcounter WHERE link_id = link FOR NO KEY UPDATE;
    SELECT l.max_clicks_per_visitor, links_closed_by(
        links_ban_reason(l.id, l.owner_id, l.destination, l.other_destinations),
        l.is_active, l.starts_at, l.expires_at, l.max_clicks, c.clicks
    ) INTO share, reason
    FROM links_link l JOIN links_clickcounter c ON c.link_id = l.id WHERE l.id = link;
    IF NOT FOUND THEN
        RETURN 'deleted';
    END IF;
    IF reason IS NOT NULL THEN
        RETURN reason;
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
            RETURN 'visitor_limit_reached';
        END IF;
        INSERT INTO links_visitorclicks AS v (link_id, visitor, clicks) VALUES (link, hashes[1], 1)
        ON CONFLICT (link_id, visitor) DO UPDATE SET clicks = v.clicks + 1;
    END IF;
    UPDATE links_clickcounter SET clicks = clicks + 1 WHERE link_id = link;
    RETURN NULL;
END $$;

-- Without the limit, the service has no reason to recognise visitors.
CREATE FUNCTION links_delete_visitors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM links_visitorkey WHERE link_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER links_delete_visitors AFTER UPDATE OF max_clicks_per_visitor ON links_link FOR EACH ROW
    WHEN (OLD.max_clicks_per_visitor IS NOT NULL AND NEW.max_clicks_per_visitor IS NULL)
    EXECUTE FUNCTION links_delete_visitors();
