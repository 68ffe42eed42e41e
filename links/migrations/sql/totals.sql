-- Triggers maintain the searchable copy, the click counters and the owners' totals, whether the API, the admin, COPY or
-- manual SQL writes the rows.
--
-- A session plans a statement of a trigger once, often for a single row, and keeps the plan for statements that change
-- 20,000 rows. So old_rows and new_rows are never joined, because nested loops over 20,000 rows took a minute: they are
-- added up, upserted, or turned into an array for an index (enable_seqscan), however small the tables were at first.

ALTER TABLE links_clickcounter ALTER COLUMN clicks SET DEFAULT 0;
-- Every link and every click updates a slot: free space on each page allows HOT updates.
ALTER TABLE links_ownertotals SET (fillfactor = 50);

CREATE FUNCTION links_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- One statement takes less time than three.
    WITH counters AS (
        INSERT INTO links_clickcounter (link_id, owner_id, is_archived, clicks)
        SELECT id, owner_id, is_archived, 0 FROM new_rows
    ), searchable AS (
        INSERT INTO links_searchable (
            link_id, owner_id, created_at, is_active, is_archived, tag_keys, domain_id, content
        )
        SELECT id, owner_id, created_at, is_active, is_archived, tag_keys, coalesce(domain_id, 0),
            links_content(
                title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
            )
        FROM new_rows
    )
    INSERT INTO links_ownertotals AS t (
        owner_id, slot, links, active_links, archived_links, archived_active_links, clicks, changes, bytes
    )
    SELECT owner_id, id % 8, count(*), count(*) FILTER (WHERE is_active), count(*) FILTER (WHERE is_archived),
        count(*) FILTER (WHERE is_archived AND is_active), 0, count(*), sum(links_size(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, fallback_url, password, utm, rules, split, preview, external_id
    ))
    FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            archived_links = t.archived_links + EXCLUDED.archived_links,
            archived_active_links = t.archived_active_links + EXCLUDED.archived_active_links,
            changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes;
    -- Here, because triggers of their own would cost more: a statement parses the conditions of all of them. Most links
    -- have none of this, so there is one question first.
    IF EXISTS (SELECT FROM events_listener) OR EXISTS (
        SELECT FROM new_rows WHERE tag_keys <> '{}' OR rules <> '[]' OR split <> '[]' OR health_check <> 'off'
    ) THEN
        -- After the totals, see tag_totals.sql.
        INSERT INTO links_tagtotals AS t (
            owner_id, tag_key, slot, links, active_links, archived_links, archived_active_links, link_id
        )
        SELECT owner_id, tag, id % 8, count(*), count(*) FILTER (WHERE is_active), count(*) FILTER (WHERE is_archived),
            count(*) FILTER (WHERE is_archived AND is_active), max(id)
        FROM new_rows, unnest(tag_keys) tag GROUP BY 1, 2, 3
        ON CONFLICT (owner_id, tag_key, slot) DO UPDATE
            SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
                archived_links = t.archived_links + EXCLUDED.archived_links,
                archived_active_links = t.archived_active_links + EXCLUDED.archived_active_links,
                link_id = EXCLUDED.link_id;
        IF EXISTS (SELECT FROM events_listener)
            OR EXISTS (SELECT FROM new_rows WHERE rules <> '[]' OR split <> '[]' OR health_check <> 'off')
        THEN
            PERFORM links_begin_branches(ARRAY(SELECT id FROM new_rows WHERE rules <> '[]' OR split <> '[]'));
            -- Links with the default of their workspace get their rows from the process that checks.
            INSERT INTO links_linkhealth (link_id, owner_id, due_at)
            SELECT id, owner_id, now() FROM new_rows WHERE health_check <> 'off' ON CONFLICT (link_id) DO NOTHING;
            -- An undeleted link is not created.
            IF current_setting('links.is_undeleting', true) IS DISTINCT FROM 'on' THEN
                PERFORM links_emit('link.created', ARRAY(
                    SELECT id FROM new_rows WHERE EXISTS (SELECT FROM events_listener)
                ));
            END IF;
        END IF;
    END IF;
    RETURN NULL;
END $$;

-- Most updates archive nothing, and a statement's trigger cannot have the condition of a row's. A condition with the
-- setting would be parsed by every update.
CREATE FUNCTION links_note_archival() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('links.has_archivals', 'on', true);
    RETURN NEW;
END $$;
-- Before the totals, and in the order of every statement that locks several counters.
CREATE FUNCTION links_archive_counters(changed bigint[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM links_clickcounter WHERE link_id = ANY (changed) ORDER BY link_id FOR NO KEY UPDATE;
    UPDATE links_clickcounter SET is_archived = NOT is_archived WHERE link_id = ANY (changed);
END $$;

CREATE FUNCTION links_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('links.has_archivals', true) = 'on' THEN
        PERFORM links_archive_counters(ARRAY(
            SELECT id FROM (SELECT id, is_archived FROM new_rows EXCEPT SELECT id, is_archived FROM old_rows) archived
        ));
    END IF;
    WITH searchable AS (
        INSERT INTO links_searchable AS s (
            link_id, owner_id, created_at, is_active, is_archived, tag_keys, domain_id, content
        )
        SELECT id, owner_id, created_at, is_active, is_archived, tag_keys, coalesce(domain_id, 0),
            links_content(
                title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
            )
        FROM new_rows
        ON CONFLICT (link_id) DO UPDATE
            SET owner_id = EXCLUDED.owner_id, created_at = EXCLUDED.created_at, is_active = EXCLUDED.is_active,
                is_archived = EXCLUDED.is_archived, tag_keys = EXCLUDED.tag_keys, domain_id = EXCLUDED.domain_id,
                content = EXCLUDED.content
            WHERE (
                s.owner_id, s.created_at, s.is_active, s.is_archived, s.tag_keys, s.domain_id, s.content
            ) IS DISTINCT FROM (
                EXCLUDED.owner_id, EXCLUDED.created_at, EXCLUDED.is_active, EXCLUDED.is_archived, EXCLUDED.tag_keys,
                EXCLUDED.domain_id, EXCLUDED.content
            )
        RETURNING s.owner_id, s.link_id
    ), changed AS (
        SELECT owner_id, (id % 8)::smallint AS slot, sum(link) AS links, sum(active) AS active,
            sum(archived) AS archived, sum(archived_active) AS archived_active, sum(change) AS changes,
            sum(size) AS bytes
        FROM (
            SELECT owner_id, id, 1 AS link, is_active::int AS active, is_archived::int AS archived,
                (is_archived AND is_active)::int AS archived_active, 0 AS change, links_size(
                    original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                    not_started_url, expired_url, fallback_url, password, utm, rules, split, preview, external_id
                ) AS size
            FROM new_rows
            UNION ALL
            SELECT owner_id, id, -1, -is_active::int, -is_archived::int, -(is_archived AND is_active)::int, 0,
                -links_size(
                    original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                    not_started_url, expired_url, fallback_url, password, utm, rules, split, preview, external_id
                )
            FROM old_rows
            UNION ALL SELECT owner_id, link_id, 0, 0, 0, 0, 1, 0 FROM searchable
            -- What the history does not record, such as a new updated_at alone: each change is in either.
            UNION ALL SELECT owner_id, id, 0, 0, 0, 0, 1, 0 FROM new_rows
            WHERE current_setting('history.has_unrecorded', true) = 'on'
        ) rows
        GROUP BY 1, 2
    )
    -- A move decreases the former owner's links by one and increases the new owner's.
    INSERT INTO links_ownertotals AS t (
        owner_id, slot, links, active_links, archived_links, archived_active_links, clicks, changes, bytes
    )
    SELECT owner_id, slot, links, active, archived, archived_active, 0, changes, bytes FROM changed
    WHERE links <> 0 OR active <> 0 OR archived <> 0 OR archived_active <> 0 OR changes <> 0 OR bytes <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            archived_links = t.archived_links + EXCLUDED.archived_links,
            archived_active_links = t.archived_active_links + EXCLUDED.archived_active_links,
            changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes;
    RETURN NULL;
END $$;

CREATE FUNCTION links_after_delete() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    -- Deleted links that cannot be undeleted, because their account is deleted.
    gone bigint[] := ARRAY(
        SELECT id FROM old_rows WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = id)
    );
BEGIN
    DELETE FROM links_searchable WHERE link_id = ANY (ARRAY(SELECT id FROM old_rows));
    DELETE FROM links_route WHERE link_id = ANY (gone);
    DELETE FROM links_formerutm WHERE link_id = ANY (gone);
    DELETE FROM links_linkban WHERE link_id = ANY (gone);
    DELETE FROM links_linkhealth WHERE link_id = ANY (gone);
    DELETE FROM links_visitorkey WHERE link_id = ANY (gone);
    -- An UPDATE rather than an upsert, because the same transaction may delete the owner. Two such statements lock the
    -- slots in the same order, so they cannot deadlock.
    WITH deleted AS (
        SELECT owner_id, (id % 8)::smallint AS slot, count(*) AS links, count(*) FILTER (WHERE is_active) AS active,
            count(*) FILTER (WHERE is_archived) AS archived,
            count(*) FILTER (WHERE is_archived AND is_active) AS archived_active,
            -- Those of a link that can be undeleted count until it is deleted for good.
            coalesce(sum(links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, fallback_url, password, utm, rules, split, preview, external_id
            )) FILTER (WHERE id = ANY (gone)), 0) AS bytes
        FROM old_rows GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t
    SET links = t.links - deleted.links, active_links = t.active_links - deleted.active,
        archived_links = t.archived_links - deleted.archived,
        archived_active_links = t.archived_active_links - deleted.archived_active,
        changes = t.changes + deleted.links, bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;

-- A drainer sets links.totals_slot: its long transactions must not lock the slots that requests write.
CREATE FUNCTION links_clicks_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    own_slot smallint := nullif(current_setting('links.totals_slot', true), '');
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks)
    SELECT owner_id, coalesce(own_slot, link_id % 8), 0, 0, sum(clicks)
    FROM (
        SELECT owner_id, link_id, clicks FROM new_rows UNION ALL SELECT owner_id, link_id, -clicks FROM old_rows
    ) changed
    GROUP BY 1, 2 HAVING sum(clicks) <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks;
    IF EXISTS (SELECT FROM events_listener WHERE 'link.limit_reached' = ANY (feed_types || webhook_types))
        AND current_setting('links.is_undeleting', true) IS DISTINCT FROM 'on'
    THEN
        PERFORM links_emit_reached_limits(changed.ids, changed.added) FROM (
            SELECT array_agg(link_id) AS ids, array_agg(clicks) AS added FROM (
                SELECT link_id, sum(clicks)::bigint AS clicks FROM (
                    SELECT owner_id, link_id, clicks FROM new_rows
                    UNION ALL SELECT owner_id, link_id, -clicks FROM old_rows
                ) rows WHERE owner_id IN (
                    SELECT workspace_id FROM events_listener
                    WHERE 'link.limit_reached' = ANY (feed_types || webhook_types)
                ) GROUP BY 1 HAVING sum(clicks) > 0
            ) links
        ) changed WHERE ids IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION links_clicks_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH deleted AS (
        SELECT owner_id, (link_id % 8)::smallint AS slot, sum(clicks) AS clicks FROM old_rows
        GROUP BY 1, 2 HAVING sum(clicks) > 0
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET clicks = t.clicks - deleted.clicks
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;

CREATE TRIGGER links_after_insert AFTER INSERT ON links_link
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_insert();
CREATE TRIGGER links_note_archival BEFORE UPDATE OF is_archived ON links_link
    FOR EACH ROW WHEN (OLD.is_archived <> NEW.is_archived) EXECUTE FUNCTION links_note_archival();
CREATE TRIGGER links_after_update AFTER UPDATE ON links_link
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_update();
CREATE TRIGGER links_after_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_delete();
CREATE TRIGGER links_clicks_after_update AFTER UPDATE ON links_clickcounter
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_update();
CREATE TRIGGER links_clicks_after_delete AFTER DELETE ON links_clickcounter
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_delete();
