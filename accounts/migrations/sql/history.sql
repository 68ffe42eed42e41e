-- Writes a row of the history in the caller's transaction. By default, its author is that of the transaction, and its
-- time is that of the statement.
CREATE FUNCTION accounts_record_change(
    owner bigint, object uuid, action text, before jsonb, after jsonb,
    author jsonb DEFAULT nullif(current_setting('history.author', true), '')::jsonb,
    changed_at timestamptz DEFAULT statement_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_change (owner_id, object_id, action, before, after, actor_id, via, key_id, request_id, changed_at)
    VALUES (
        owner, object, action, before, after,
        (author ->> 'actor')::bigint, coalesce(author ->> 'via', 'service'), (author ->> 'key')::uuid,
        coalesce(author ->> 'request', ''), changed_at
    );
END $$;

-- The fields that have another value in ``others``.
CREATE FUNCTION accounts_differences(fields jsonb, others jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(fields)
        WHERE value IS DISTINCT FROM others -> key
    );
END $$;

-- The settings of an account. Services record new passwords: a stored hash also changes when a login renews it.
CREATE FUNCTION accounts_fields(account accounts_user) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_build_object(
        'firstName', account.first_name, 'lastName', account.last_name, 'plan', account.plan,
        'isActive', account.is_active, 'isStaff', account.is_staff, 'isSuperuser', account.is_superuser
    );
END $$;

CREATE FUNCTION accounts_record_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := accounts_differences(accounts_fields(OLD), accounts_fields(NEW));
    after jsonb := accounts_differences(accounts_fields(NEW), accounts_fields(OLD));
BEGIN
    IF OLD.email <> NEW.email THEN
        before := before || '{"email": null}';
        after := after || '{"email": "changed"}';
    END IF;
    PERFORM accounts_record_change(NEW.id, NEW.public_id, 'account.updated', before, after);
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_account_change AFTER UPDATE ON accounts_user FOR EACH ROW WHEN (
    (OLD.email, OLD.first_name, OLD.last_name, OLD.plan, OLD.is_active, OLD.is_staff, OLD.is_superuser) IS DISTINCT FROM
    (NEW.email, NEW.first_name, NEW.last_name, NEW.plan, NEW.is_active, NEW.is_staff, NEW.is_superuser)
) EXECUTE FUNCTION accounts_record_account_change();

CREATE FUNCTION accounts_record_workspace_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    former jsonb := '{}';
    changed jsonb := jsonb_build_object('name', NEW.name, 'plan', NEW.plan);
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM accounts_record_change(NEW.id, NEW.public_id, 'workspace.created', former, changed);
    ELSE
        former := jsonb_build_object('name', OLD.name, 'plan', OLD.plan);
        PERFORM accounts_record_change(
            NEW.id, NEW.public_id, 'workspace.updated',
            accounts_differences(former, changed), accounts_differences(changed, former)
        );
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_new_workspace AFTER INSERT ON accounts_workspace FOR EACH ROW
    WHEN (NEW.account_id IS NULL) EXECUTE FUNCTION accounts_record_workspace_change();
CREATE TRIGGER accounts_record_workspace_change AFTER UPDATE ON accounts_workspace FOR EACH ROW
    WHEN ((OLD.name, OLD.plan) IS DISTINCT FROM (NEW.name, NEW.plan))
    EXECUTE FUNCTION accounts_record_workspace_change();

-- Members are recorded by the id of their account. A personal workspace, which has the number of its account, has no
-- others.
CREATE FUNCTION accounts_record_member_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    member accounts_member := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    account uuid := (SELECT public_id FROM accounts_user WHERE id = member.user_id);
BEGIN
    PERFORM accounts_record_change(
        member.workspace_id, account,
        CASE TG_OP WHEN 'INSERT' THEN 'member.added' WHEN 'UPDATE' THEN 'member.updated' ELSE 'member.removed' END,
        CASE WHEN TG_OP = 'INSERT' THEN '{}' ELSE jsonb_build_object('role', OLD.role) END,
        CASE WHEN TG_OP = 'DELETE' THEN '{}' ELSE jsonb_build_object('role', NEW.role) END
    );
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_new_member AFTER INSERT ON accounts_member FOR EACH ROW
    WHEN (NEW.workspace_id <> NEW.user_id) EXECUTE FUNCTION accounts_record_member_change();
CREATE TRIGGER accounts_record_role AFTER UPDATE ON accounts_member FOR EACH ROW
    WHEN (OLD.role <> NEW.role) EXECUTE FUNCTION accounts_record_member_change();
CREATE TRIGGER accounts_record_former_member AFTER DELETE ON accounts_member FOR EACH ROW
    WHEN (OLD.workspace_id <> OLD.user_id) EXECUTE FUNCTION accounts_record_member_change();

-- The history of a workspace is deleted with it. A personal workspace is deleted with its account.
CREATE FUNCTION accounts_delete_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts_change WHERE owner_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_delete_history AFTER DELETE ON accounts_workspace
    FOR EACH ROW EXECUTE FUNCTION accounts_delete_history();
