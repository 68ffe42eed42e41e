-- Foreign keys that Django cannot express.

-- The end of a membership deletes the member's keys of this workspace, whichever program ends it.
ALTER TABLE accounts_scopedkey ADD CONSTRAINT accounts_scopedkey_member_fk_accounts_member
    FOREIGN KEY (workspace_id, user_id) REFERENCES accounts_member (workspace_id, user_id) ON DELETE CASCADE
    DEFERRABLE INITIALLY DEFERRED;

-- SQL statements delete workspaces without Django.
ALTER TABLE accounts_loggedrequest ADD CONSTRAINT loggedrequest_owner FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE accounts_storedresponse ADD CONSTRAINT storedresponse_owner FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE accounts_historysize ADD CONSTRAINT historysize_owner FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
