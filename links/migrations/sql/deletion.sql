-- The related rows of a deleted link stay as long as links_deletedlink has its row. When that row is deleted without an
-- undeletion, this trigger deletes them.
CREATE FUNCTION links_after_final_deletion() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        DELETE FROM links_route WHERE link_id = OLD.link_id;
        DELETE FROM links_formerutm WHERE link_id = OLD.link_id;
        DELETE FROM links_linkban WHERE link_id = OLD.link_id;
        DELETE FROM links_linkhealth WHERE link_id = OLD.link_id;
        DELETE FROM links_visitorkey WHERE link_id = OLD.link_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER links_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION links_after_final_deletion();
