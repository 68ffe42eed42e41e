-- The QR codes of a deleted link are restored with it. Until then, the links app keeps a row in links_deletedlink.
CREATE FUNCTION qrcodes_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO qrcodes_deletedqrcode (link_id, code)
    SELECT OLD.link_id, to_jsonb(OLD) WHERE EXISTS (SELECT FROM links_deletedlink WHERE link_id = OLD.link_id);
    RETURN NULL;
END $$;
CREATE TRIGGER qrcodes_after_delete AFTER DELETE ON qrcodes_qrcode
    FOR EACH ROW EXECUTE FUNCTION qrcodes_after_delete();

CREATE FUNCTION qrcodes_after_final_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        INSERT INTO qrcodes_qrcode (
            id, public_id, token, link_id, owner_id, digest, content, size, format, level, foreground, background,
            margin, style, logo, width_mm, frame_text, frame_position, created_at
        )
        SELECT c.id, c.public_id, c.token, c.link_id, c.owner_id, c.digest, c.content, c.size, c.format, c.level,
            c.foreground, c.background, c.margin, c.style, c.logo, c.width_mm, c.frame_text, c.frame_position,
            c.created_at
        FROM qrcodes_deletedqrcode d, jsonb_populate_record(NULL::qrcodes_qrcode, d.code) c
        WHERE d.link_id = OLD.link_id;
    END IF;
    DELETE FROM qrcodes_deletedqrcode WHERE link_id = OLD.link_id;
    RETURN NULL;
END $$;
CREATE TRIGGER qrcodes_after_final_deletion AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION qrcodes_after_final_deletion();
