-- SQL statements delete links without Django, which cannot express this constraint.
ALTER TABLE links_visitorclicks ADD CONSTRAINT visitorclicks_key
    FOREIGN KEY (link_id) REFERENCES links_visitorkey ON DELETE CASCADE;
