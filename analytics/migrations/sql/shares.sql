-- Shared reports.
ALTER TABLE analytics_share ADD CONSTRAINT analytics_share_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;

INSERT INTO accounts_historyname (table_name, name, columns, form) VALUES
    ('analytics_share', 'viewId', '{view_id}', 'plain'),
    ('analytics_share', 'urlId', '{url_id}', 'plain'),
    ('analytics_share', 'period', '{period}', 'plain'),
    ('analytics_share', 'timezone', '{timezone}', 'plain'),
    ('analytics_share', 'password', '{password}', 'secret'),
    ('analytics_share', 'expiresAt', '{expires_at}', 'moment'),
    ('analytics_share', 'noIndex', '{no_index}', 'plain');

CREATE TRIGGER analytics_record_new_row AFTER INSERT ON analytics_share FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('share.created', 'owner_id');
CREATE TRIGGER analytics_record_row AFTER UPDATE ON analytics_share FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('share.updated', 'owner_id');
CREATE TRIGGER analytics_record_former_row AFTER DELETE ON analytics_share FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('share.deleted', 'owner_id');

CREATE FUNCTION analytics_end_share() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO analytics_endedshare (digest) VALUES (OLD.digest) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER analytics_end_share AFTER DELETE ON analytics_share
    FOR EACH ROW EXECUTE FUNCTION analytics_end_share();
