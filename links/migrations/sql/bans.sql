-- Whether a ban applies to the link, its owner or one of its destinations. Lists call this function only if the condition
-- in links/availability.py finds a ban that may concern the link. Both must know every kind of ban.
CREATE FUNCTION links_is_banned(link bigint, owner bigint, destination text, others text[]) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    -- One query for most links, which no ban concerns.
    IF NOT EXISTS (
        SELECT FROM links_linkban WHERE link_id = link
        UNION ALL SELECT FROM bans_ban WHERE owner_id = owner OR host IS NOT NULL
    ) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM links_linkban WHERE link_id = link)
        OR EXISTS (SELECT FROM bans_ban WHERE owner_id = owner)
        OR bans_is_host_banned(destination)
        OR cardinality(others) > 0 AND EXISTS (SELECT FROM unnest(others) other WHERE bans_is_host_banned(other));
END $$;

-- The kind of the link's ban: 'legal' if the reason of one of its bans is "legal" in any case, else 'other'. NULL without
-- a ban. For a single link: the same condition inside a query costs three subplans, a fifth of a lookup.
CREATE FUNCTION links_ban_reason(link bigint, owner bigint, destination text, others text[]) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    IF NOT links_is_banned(link, owner, destination, others) THEN
        RETURN NULL;
    END IF;
    RETURN CASE WHEN EXISTS (
        SELECT FROM (
            SELECT reason FROM links_linkban WHERE link_id = link
            UNION ALL
            SELECT reason FROM bans_ban WHERE owner_id = owner
            UNION ALL
            SELECT reason FROM bans_ban
            WHERE host = ANY (ARRAY(
                SELECT host FROM unnest(others || destination) url, unnest(bans_hosts_of(url)) host
            ))
        ) ban
        WHERE reason ~* '^\s*legal\s*$'
    ) THEN 'legal' ELSE 'other' END;
END $$;
