-- SQL statements delete workspaces without Django, which cannot express this constraint.
ALTER TABLE bans_ban ADD CONSTRAINT bans_ban_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
