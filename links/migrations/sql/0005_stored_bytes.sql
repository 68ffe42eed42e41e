-- The bytes that each owner stores, in the totals of the owner, and the limit of the plan. Triggers keep them exact,
-- whichever program writes.

ALTER TABLE links_ownertotals ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN links_ownertotals.bytes IS 'Stored bytes of links and QR codes, likewise.';

-- The texts of a link, and 500 bytes for its row, codes and counter. Not the sizes of the columns on disk, which depend
-- on compression: a link must count the same when it is deleted. A SQL function with each parameter once is inlined.
CREATE FUNCTION links_size(
    original_url text, target_url text, destination text, other_destinations text[], title text, description text,
    tags text[], tag_keys text[], not_started_url text, expired_url text, password text, utm jsonb, rules jsonb,
    split jsonb, preview jsonb
) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 500 + octet_length(concat(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ))::bigint
$$;

CREATE OR REPLACE FUNCTION accounts_stored_bytes(workspaces bigint[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT coalesce(sum(bytes), 0) FROM links_ownertotals WHERE owner_id = ANY (workspaces));
END $$;

-- Checked once for every 8 KiB that a row of the totals grows by (8 rows of each owner), because each check takes a
-- fifth of the processor time of an insert. So an account exceeds its limit by 64 KiB for each workspace at most, and by
-- what transactions of the same moment write.
CREATE FUNCTION links_check_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    most bigint;
BEGIN
    SELECT s.bytes INTO most
    FROM accounts_workspace w LEFT JOIN accounts_user u ON u.id = w.account_id
    JOIN accounts_storagelimit s ON s.plan = coalesce(w.plan, u.plan)
    WHERE w.id = NEW.owner_id;
    -- An undeletion does not change the stored bytes.
    IF most < accounts_stored_bytes(accounts_sharing(accounts_limits_owner(NEW.owner_id)))
        AND current_setting('links.is_undeleting', true) IS DISTINCT FROM 'on'
    THEN
        RAISE EXCEPTION 'The limit of stored bytes is reached.'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'storage_limit';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER links_check_new_storage AFTER INSERT ON links_ownertotals
    FOR EACH ROW WHEN (NEW.bytes >= 8192) EXECUTE FUNCTION links_check_storage();
CREATE TRIGGER links_check_storage AFTER UPDATE OF bytes ON links_ownertotals
    FOR EACH ROW WHEN (NEW.bytes / 8192 > OLD.bytes / 8192) EXECUTE FUNCTION links_check_storage();

CREATE OR REPLACE FUNCTION links_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- One statement takes less time than three.
    WITH counters AS (
        INSERT INTO links_clickcounter (link_id, owner_id, clicks) SELECT id, owner_id, 0 FROM new_rows
    ), searchable AS (
        INSERT INTO links_searchable (link_id, owner_id, created_at, is_active, tag_keys, domain_id, content)
        SELECT id, owner_id, created_at, is_active, tag_keys, coalesce(domain_id, 0),
            links_content(
                title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
            )
        FROM new_rows
    )
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes, bytes)
    SELECT owner_id, id % 8, count(*), count(*) FILTER (WHERE is_active), 0, count(*), sum(links_size(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ))
    FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes;
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
    ), changed AS (
        SELECT owner_id, (id % 8)::smallint AS slot, sum(link) AS links, sum(active) AS active, sum(change) AS changes,
            sum(size) AS bytes
        FROM (
            SELECT owner_id, id, 1 AS link, is_active::int AS active, 0 AS change, links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            ) AS size FROM new_rows
            UNION ALL SELECT owner_id, id, -1, -is_active::int, 0, -links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            ) FROM old_rows
            UNION ALL SELECT owner_id, link_id, 0, 0, 1, 0 FROM searchable
        ) rows
        GROUP BY 1, 2
    )
    -- A move decreases the former owner's links by one and increases the new owner's.
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes, bytes)
    SELECT owner_id, slot, links, active, 0, changes, bytes FROM changed
    WHERE links <> 0 OR active <> 0 OR changes <> 0 OR bytes <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION links_after_delete() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    -- Deleted links that cannot be undeleted, because their account is deleted.
    gone bigint[] := ARRAY(
        SELECT id FROM old_rows WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = id)
    );
BEGIN
    DELETE FROM links_searchable WHERE link_id = ANY (ARRAY(SELECT id FROM old_rows));
    DELETE FROM links_route WHERE link_id = ANY (gone);
    DELETE FROM links_linkban WHERE link_id = ANY (gone);
    DELETE FROM links_visitorkey WHERE link_id = ANY (gone);
    -- An UPDATE rather than an upsert, because the same transaction may delete the owner. Two such statements lock the
    -- slots in the same order, so they cannot deadlock.
    WITH deleted AS (
        SELECT owner_id, (id % 8)::smallint AS slot, count(*) AS links, count(*) FILTER (WHERE is_active) AS active,
            -- Those of a link that can be undeleted count until it is deleted for good.
            coalesce(sum(links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            )) FILTER (WHERE id = ANY (gone)), 0) AS bytes
        FROM old_rows GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t
    SET links = t.links - deleted.links, active_links = t.active_links - deleted.active,
        changes = t.changes + deleted.links, bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;

-- After an undeletion the link counts again as a row of links_link.
CREATE FUNCTION links_bytes_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH deleted AS (
        SELECT d.owner_id, (d.link_id % 8)::smallint AS slot, sum(links_size(
            original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
            not_started_url, expired_url, password, utm, rules, split, preview
        )) AS bytes
        FROM old_rows d, jsonb_populate_record(NULL::links_link, d.link) l GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;
CREATE TRIGGER links_bytes_after_final_deletion AFTER DELETE ON links_deletedlink
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_bytes_after_final_deletion();

-- Links of before this migration. Writes to the table wait until the commit, so none is missed.
LOCK TABLE links_link, links_deletedlink IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
SELECT owner_id, slot, 0, 0, 0, sum(size)
FROM (
    SELECT owner_id, (id % 8)::smallint AS slot, links_size(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ) AS size FROM links_link
    UNION ALL SELECT d.owner_id, (d.link_id % 8)::smallint, links_size(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ) FROM links_deletedlink d, jsonb_populate_record(NULL::links_link, d.link) l
) stored
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
