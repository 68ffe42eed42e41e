-- Reports by mail: they end with the workspace and with the account.
ALTER TABLE analytics_reportmail ADD CONSTRAINT analytics_reportmail_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id)
    REFERENCES accounts_workspace (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE analytics_reportmail ADD CONSTRAINT analytics_reportmail_user_id_fk_accounts_user_id FOREIGN KEY (user_id)
    REFERENCES accounts_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE analytics_mailedreport ADD CONSTRAINT analytics_mailedreport_report_mail_id_fk FOREIGN KEY (report_mail_id)
    REFERENCES analytics_reportmail (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
