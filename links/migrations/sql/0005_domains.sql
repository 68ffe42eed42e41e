-- As in 0002_totals.sql, with the domain in the searchable copy.

CREATE OR REPLACE FUNCTION links_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO links_clickcounter (link_id, owner_id, clicks) SELECT id, owner_id, 0 FROM new_rows;
    INSERT INTO links_searchable (link_id, owner_id, created_at, is_active, tag_keys, domain_id, content)
    SELECT id, owner_id, created_at, is_active, tag_keys, coalesce(domain_id, 0),
        links_content(
            title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
        )
    FROM new_rows;
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes)
    SELECT owner_id, id % 8, count(*), count(*) FILTER (WHERE is_active), 0, count(*)
    FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            changes = t.changes + EXCLUDED.changes;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION links_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH searchable AS (
        INSERT INTO links_searchable AS s (link_id, owner_id, created_at, is_active, tag_keys, domain_id, content)
        SELECT id, owner_id, created_at, is_active, tag_keys, coalesce(domain_id, 0),
            links_content(
                title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
            )
        FROM new_rows
        ON CONFLICT (link_id) DO UPDATE
            SET owner_id = EXCLUDED.owner_id, created_at = EXCLUDED.created_at, is_active = EXCLUDED.is_active,
                tag_keys = EXCLUDED.tag_keys, domain_id = EXCLUDED.domain_id, content = EXCLUDED.content
            WHERE (s.owner_id, s.created_at, s.is_active, s.tag_keys, s.domain_id, s.content) IS DISTINCT FROM (
                EXCLUDED.owner_id, EXCLUDED.created_at, EXCLUDED.is_active, EXCLUDED.tag_keys, EXCLUDED.domain_id,
                EXCLUDED.content
            )
        RETURNING s.owner_id, s.link_id
    )
    -- A move decreases the former owner's links by one and increases the new owner's.
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes)
    SELECT owner_id, id % 8, sum(link), sum(active), 0, sum(change)
    FROM (
        SELECT owner_id, id, 1 AS link, is_active::int AS active, 0 AS change FROM new_rows
        UNION ALL SELECT owner_id, id, -1, -is_active::int, 0 FROM old_rows
        UNION ALL SELECT owner_id, link_id, 0, 0, 1 FROM searchable
    ) changed
    GROUP BY 1, 2 HAVING sum(link) <> 0 OR sum(active) <> 0 OR sum(change) <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            changes = t.changes + EXCLUDED.changes;
    RETURN NULL;
END $$;
