CREATE FUNCTION analytics_after_link_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former
    WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = former.id);
    -- The links' counters are deleted, too, so that no batch counts them meanwhile.
    PERFORM analytics_change_rollups(array_agg(id), array_agg(owner_id), array_agg(domain_id), -1)
    FROM former HAVING count(*) > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();

-- Or the link has come back, with its days.
CREATE FUNCTION analytics_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM analytics_change_rollups(ARRAY[id], ARRAY[owner_id], ARRAY[domain_id], 1)
    FROM links_link WHERE id = OLD.link_id;
    IF NOT FOUND THEN
        INSERT INTO analytics_deletedlink (link_id) VALUES (OLD.link_id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION analytics_after_final_deletion();
