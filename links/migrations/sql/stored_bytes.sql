-- The bytes that each owner stores, in the totals of the owner, and the limit of the plan. Triggers keep them exact,
-- whichever program writes.

-- The texts of a link, and 500 bytes for its row, codes and counter. Not the sizes of the columns on disk, which depend
-- on compression: a link must count the same when it is deleted. A SQL function with each parameter once is inlined.
CREATE FUNCTION links_size(
    original_url text, target_url text, destination text, other_destinations text[], title text, description text,
    tags text[], tag_keys text[], not_started_url text, expired_url text, fallback_url text, password text, utm jsonb,
    rules jsonb, split jsonb, preview jsonb, external_id text
) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 500 + octet_length(concat(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, fallback_url, password, utm, rules, split, preview, external_id
    ))::bigint
$$;

-- `accounts` shows it, but only this app knows what is stored.
CREATE FUNCTION accounts_stored_bytes(workspaces bigint[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
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
    -- An undeletion does not change the stored bytes, and a tag is not longer in some of its links than in others.
    IF most < accounts_stored_bytes(accounts_sharing(accounts_limits_owner(NEW.owner_id)))
        AND 'on' NOT IN (
            coalesce(current_setting('links.is_undeleting', true), ''),
            coalesce(current_setting('links.changes_tags', true), '')
        )
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

-- After an undeletion the link counts again as a row of links_link.
CREATE FUNCTION links_bytes_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH deleted AS (
        SELECT d.owner_id, (d.link_id % 8)::smallint AS slot, sum(links_size(
            original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
            not_started_url, expired_url, fallback_url, password, utm, rules, split, preview, external_id
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
