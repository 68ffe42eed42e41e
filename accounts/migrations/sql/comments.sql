-- Of columns and tables that Django's base classes declare.
COMMENT ON COLUMN accounts_user.password IS 'Argon2 hash.';
COMMENT ON COLUMN accounts_user.last_login IS 'Last login to the pages.';
COMMENT ON COLUMN accounts_user.is_superuser IS 'Whether the account has every permission in the admin.';
COMMENT ON TABLE accounts_user_groups IS 'Groups of accounts with permissions in the admin.';
COMMENT ON COLUMN accounts_user_groups.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_groups.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_groups.group_id IS 'The group.';
COMMENT ON TABLE accounts_user_user_permissions IS 'Permissions of accounts in the admin.';
COMMENT ON COLUMN accounts_user_user_permissions.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_user_permissions.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_user_permissions.permission_id IS 'The permission.';
