-- Links are deleted by SQL statements outside Django, which cannot express this constraint.
ALTER TABLE qrcodes_qrcode ADD CONSTRAINT qrcode_link FOREIGN KEY (link_id) REFERENCES links_link ON DELETE CASCADE;
-- Workspaces too.
ALTER TABLE qrcodes_saveddesign ADD CONSTRAINT qrdesign_owner
    FOREIGN KEY (owner_id) REFERENCES accounts_workspace ON DELETE CASCADE;
