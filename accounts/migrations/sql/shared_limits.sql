-- Which workspaces share the limits of an account. The links app adds up what they store: accounts_stored_bytes.

-- The owner of the limits that apply to a workspace. A team on the plan of the account that owns it (the first of its
-- owners) has the limits of that account, together with the account's personal workspace, which has the account's number.
-- Any other workspace has its own.
CREATE FUNCTION accounts_limits_owner(workspace bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    team_plan text;
    first_owner bigint;
BEGIN
    SELECT w.plan INTO team_plan FROM accounts_workspace w WHERE w.id = workspace;
    IF team_plan IS NULL THEN
        RETURN workspace;
    END IF;
    SELECT m.user_id INTO first_owner FROM accounts_member m
    WHERE m.workspace_id = workspace AND m.role = 'owner' ORDER BY m.created_at, m.user_id LIMIT 1;
    RETURN coalesce((SELECT u.id FROM accounts_user u WHERE u.id = first_owner AND u.plan = team_plan), workspace);
END $$;

-- The workspaces that have these limits. ``owner`` is a result of accounts_limits_owner.
CREATE FUNCTION accounts_sharing(owner bigint) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT owner UNION
        SELECT m.workspace_id FROM accounts_member m
        WHERE m.user_id = owner AND m.role = 'owner' AND accounts_limits_owner(m.workspace_id) = owner
    );
END $$;
