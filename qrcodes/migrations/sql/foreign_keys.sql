-- Links are deleted by SQL statements outside Django, which cannot express this constraint.
ALTER TABLE qrcodes_qrcode ADD CONSTRAINT qrcode_link FOREIGN KEY (link_id) REFERENCES links_link ON DELETE CASCADE;
