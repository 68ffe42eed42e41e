-- Each batch of clicks reads the workspaces that ignore networks.
CREATE INDEX workspace_with_ignored ON accounts_workspace (id) WHERE ignored_networks <> '{}';
-- The checks of destinations look for the links of these.
CREATE INDEX workspace_with_checks ON accounts_workspace (id) WHERE health_check <> 'off';

-- Whichever program inserts an account, it has a personal workspace in the same transaction.
CREATE FUNCTION accounts_create_personal_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_workspace (id, public_id, account_id, name, created_at)
    VALUES (NEW.id, NEW.public_id, NEW.id, 'Personal', NEW.created_at);
    INSERT INTO accounts_member (workspace_id, user_id, role, created_at)
    VALUES (NEW.id, NEW.id, 'owner', NEW.created_at);
    RETURN NULL;
END $$;

CREATE TRIGGER accounts_create_personal_workspace AFTER INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION accounts_create_personal_workspace();
