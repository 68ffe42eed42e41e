-- QR codes count towards the stored bytes of their owner, in the totals of `links`.

-- Its content, its logo, and 300 bytes for its row. A deleted code that can be brought back counts like the others.
CREATE FUNCTION qrcodes_size(content text, logo bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 300 + octet_length(content) + coalesce(octet_length(logo), 0)::bigint
$$;

CREATE FUNCTION qrcodes_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
    SELECT owner_id, link_id % 8, 0, 0, 0, sum(qrcodes_size(content, logo)) FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
    RETURN NULL;
END $$;

-- A code moves with its link.
CREATE FUNCTION qrcodes_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
    SELECT owner_id, slot, 0, 0, 0, sum(size)
    FROM (
        SELECT owner_id, (link_id % 8)::smallint AS slot, qrcodes_size(content, logo) AS size FROM new_rows
        UNION ALL SELECT owner_id, (link_id % 8)::smallint, -qrcodes_size(content, logo) FROM old_rows
    ) changed
    GROUP BY 1, 2 HAVING sum(size) <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
    RETURN NULL;
END $$;

CREATE FUNCTION qrcodes_bytes_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An UPDATE, because the same transaction may delete the owner. In the order in which others lock the slots.
    WITH deleted AS (
        SELECT owner_id, (link_id % 8)::smallint AS slot, sum(qrcodes_size(content, logo)) AS bytes
        FROM old_rows r
        -- Those of a link that can be undeleted count until it is deleted for good.
        WHERE NOT EXISTS (SELECT FROM links_deletedlink d WHERE d.link_id = r.link_id)
        GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;

-- After an undeletion the code counts again as a row of qrcodes_qrcode.
CREATE FUNCTION qrcodes_bytes_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    code qrcodes_qrcode := jsonb_populate_record(NULL::qrcodes_qrcode, OLD.code);
BEGIN
    UPDATE links_ownertotals SET bytes = bytes - qrcodes_size(code.content, code.logo)
    WHERE owner_id = code.owner_id AND slot = code.link_id % 8;
    RETURN NULL;
END $$;

CREATE TRIGGER qrcodes_after_insert AFTER INSERT ON qrcodes_qrcode
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_after_insert();
CREATE TRIGGER qrcodes_after_update AFTER UPDATE ON qrcodes_qrcode
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_after_update();
CREATE TRIGGER qrcodes_bytes_after_delete AFTER DELETE ON qrcodes_qrcode
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_bytes_after_delete();
CREATE TRIGGER qrcodes_bytes_after_final_deletion AFTER DELETE ON qrcodes_deletedqrcode
    FOR EACH ROW EXECUTE FUNCTION qrcodes_bytes_after_final_deletion();

-- So do saved designs, in the first slot: a workspace has few.
CREATE FUNCTION qrcodes_count_design() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        -- An UPDATE, because the same transaction may delete the owner.
        UPDATE links_ownertotals SET bytes = bytes - qrcodes_size(OLD.name, OLD.logo)
        WHERE owner_id = OLD.owner_id AND slot = 0;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
        VALUES (NEW.owner_id, 0, 0, 0, 0, qrcodes_size(NEW.name, NEW.logo))
        ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER qrcodes_count_design AFTER INSERT OR UPDATE OF name, logo OR DELETE ON qrcodes_saveddesign
    FOR EACH ROW EXECUTE FUNCTION qrcodes_count_design();
