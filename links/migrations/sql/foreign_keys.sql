-- SQL statements delete links and workspaces without Django, which cannot express these constraints. The deletion of a
-- workspace fails as long as it has a link.

ALTER TABLE links_visitorclicks ADD CONSTRAINT visitorclicks_key
    FOREIGN KEY (link_id) REFERENCES links_visitorkey ON DELETE CASCADE;

-- A link and its domain have one owner, also after a move of the domain that a concurrent insertion has not seen.
ALTER TABLE links_link ADD CONSTRAINT links_link_domain_id_fk_domains_domain_id FOREIGN KEY (domain_id, owner_id)
    REFERENCES domains_domain (id, owner_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE links_code ADD CONSTRAINT links_code_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_deletedlink ADD CONSTRAINT links_deletedlink_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_tag ADD CONSTRAINT links_tag_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_tagchange ADD CONSTRAINT links_tagchange_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_savedview ADD CONSTRAINT links_savedview_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_utmtemplate ADD CONSTRAINT links_utmtemplate_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_createdlinks ADD CONSTRAINT links_createdlinks_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_ownertotals ADD CONSTRAINT links_ownertotals_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE links_tagtotals ADD CONSTRAINT links_tagtotals_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
