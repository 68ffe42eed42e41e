CREATE FUNCTION analytics_after_link_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former
    WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = former.id);
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();

-- Or the link has come back, with its days.
CREATE FUNCTION analytics_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        PERFORM analytics_change_rollups(ARRAY[OLD.link_id], ARRAY[OLD.owner_id], 1);
    ELSE
        INSERT INTO analytics_deletedlink (link_id) VALUES (OLD.link_id) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION analytics_after_final_deletion();
