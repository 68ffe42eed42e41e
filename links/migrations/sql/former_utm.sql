-- Writes the rows of `links.models.FormerUtm`.
CREATE FUNCTION links_record_former_utm() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Of several changes in a day, only the first one knows what the days before had. The statement may have waited for
    -- the lock of the row.
    INSERT INTO links_formerutm (link_id, owner_id, until, utm)
    VALUES (NEW.id, NEW.owner_id, (clock_timestamp() AT TIME ZONE 'UTC')::date, OLD.utm)
    ON CONFLICT (link_id, until) DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER links_record_former_utm AFTER UPDATE OF utm ON links_link FOR EACH ROW
    WHEN (OLD.utm <> NEW.utm) EXECUTE FUNCTION links_record_former_utm();
