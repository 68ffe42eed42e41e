CREATE FUNCTION analytics_after_link_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former
    WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = former.id);
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();

-- Unless the link has come back.
CREATE FUNCTION analytics_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id)
    SELECT OLD.link_id WHERE NOT EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION analytics_after_final_deletion();
