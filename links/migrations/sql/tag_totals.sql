-- Triggers count the links of each tag, as totals.sql counts those of each owner, where new links are counted.
--
-- A link's tags are counted in the slot of its owner's totals. PostgreSQL runs the triggers of a statement in the order of
-- their names, so the triggers of the totals have already locked that slot: these triggers never wait for a tag of
-- another transaction, and cannot deadlock. The checks for tags spare links without tags the longer statements.

-- Free space on each page allows HOT updates.
ALTER TABLE links_tagtotals SET (fillfactor = 70);

CREATE FUNCTION links_tags_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM new_rows WHERE tag_keys <> '{}' UNION ALL SELECT FROM old_rows WHERE tag_keys <> '{}'
    ) THEN
        RETURN NULL;
    END IF;
    -- Most updates change nothing that counts here.
    IF EXISTS (
        SELECT id, owner_id, tag_keys, is_active, is_archived FROM new_rows
        EXCEPT SELECT id, owner_id, tag_keys, is_active, is_archived FROM old_rows
    ) THEN
        INSERT INTO links_tagtotals AS t (
            owner_id, tag_key, slot, links, active_links, archived_links, archived_active_links, link_id
        )
        SELECT owner_id, tag, id % 8, sum(links), sum(active), sum(archived), sum(archived_active), max(id)
        FROM (
            SELECT owner_id, id, unnest(tag_keys) AS tag, 1 AS links, is_active::int AS active,
                is_archived::int AS archived, (is_archived AND is_active)::int AS archived_active
            FROM new_rows
            UNION ALL
            SELECT owner_id, id, unnest(tag_keys), -1, -is_active::int, -is_archived::int,
                -(is_archived AND is_active)::int
            FROM old_rows
        ) changed
        GROUP BY 1, 2, 3 HAVING sum(links) <> 0 OR sum(active) <> 0 OR sum(archived) <> 0 OR sum(archived_active) <> 0
        ON CONFLICT (owner_id, tag_key, slot) DO UPDATE
            SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
                archived_links = t.archived_links + EXCLUDED.archived_links,
                archived_active_links = t.archived_active_links + EXCLUDED.archived_active_links,
                link_id = CASE WHEN EXCLUDED.links > 0 THEN EXCLUDED.link_id ELSE t.link_id END;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION links_tags_after_delete() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (SELECT FROM old_rows WHERE tag_keys <> '{}') THEN
        -- An UPDATE rather than an upsert, because the same transaction may delete the owner.
        UPDATE links_tagtotals t SET links = t.links - deleted.links, active_links = t.active_links - deleted.active,
            archived_links = t.archived_links - deleted.archived,
            archived_active_links = t.archived_active_links - deleted.archived_active
        FROM (
            SELECT owner_id, tag, (id % 8)::smallint AS slot, count(*) AS links,
                count(*) FILTER (WHERE is_active) AS active, count(*) FILTER (WHERE is_archived) AS archived,
                count(*) FILTER (WHERE is_archived AND is_active) AS archived_active
            FROM old_rows, unnest(tag_keys) tag GROUP BY 1, 2, 3
        ) deleted
        WHERE (t.owner_id, t.tag_key, t.slot) = (deleted.owner_id, deleted.tag, deleted.slot);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION links_delete_unused_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM links_tagtotals
    WHERE owner_id = NEW.owner_id AND tag_key = NEW.tag_key AND slot = NEW.slot AND links = 0;
    RETURN NULL;
END $$;

CREATE TRIGGER links_tags_after_update AFTER UPDATE ON links_link
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION links_tags_after_update();
CREATE TRIGGER links_tags_after_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_tags_after_delete();
CREATE TRIGGER links_delete_unused_tag AFTER UPDATE ON links_tagtotals
    FOR EACH ROW WHEN (NEW.links = 0) EXECUTE FUNCTION links_delete_unused_tag();
