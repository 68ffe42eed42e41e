-- The deletion of a domain deletes the keys that are limited to it. Without the limit, they could do more.
ALTER TABLE accounts_scopedkey ADD CONSTRAINT accounts_scopedkey_domain_id_fk_domains_domain_id
    FOREIGN KEY (domain_id) REFERENCES domains_domain (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX scopedkey_domain ON accounts_scopedkey (domain_id) WHERE domain_id IS NOT NULL;
