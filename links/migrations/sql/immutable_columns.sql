-- Attackers have abused shorteners by changing the destinations of existing links (Cligs, 2009: 2.2 million links).
-- Here, only a change of target_url changes the destination.
CREATE FUNCTION links_refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'original_url and short_code of a link cannot be changed, and destination only with target_url';
END $$;
CREATE TRIGGER links_immutable BEFORE UPDATE OF original_url, destination, short_code ON links_link
    FOR EACH ROW WHEN (
        OLD.original_url <> NEW.original_url OR OLD.short_code <> NEW.short_code
        OR OLD.destination <> NEW.destination AND OLD.target_url IS NOT DISTINCT FROM NEW.target_url
    ) EXECUTE FUNCTION links_refuse_rewrite();
