-- The history: a row for each change, with the names and values of the API. One trigger function records the rows of
-- every table, whichever program changes them.

-- Not a model of Django, so that nothing that empties the tables of models empties it.
CREATE TABLE accounts_historyname (
    table_name text,
    name text,
    columns text[] NOT NULL,
    form text NOT NULL DEFAULT 'plain',
    parts text[],
    PRIMARY KEY (table_name, name)
);
COMMENT ON TABLE accounts_historyname IS 'What the history records of a table. It ignores all other columns.';
COMMENT ON COLUMN accounts_historyname.table_name IS 'The table.';
COMMENT ON COLUMN accounts_historyname.name IS 'Name in the history: that of the API.';
COMMENT ON COLUMN accounts_historyname.columns IS 'The column; several for the form object.';
COMMENT ON COLUMN accounts_historyname.form IS 'How the history shows the value. accounts_shown has the forms.';
COMMENT ON COLUMN accounts_historyname.parts IS 'For the form object: the names of its parts, in the order of the columns.';

INSERT INTO accounts_historyname (table_name, name, columns, form) VALUES
    ('accounts_user', 'email', '{email}', 'announced'),
    ('accounts_user', 'firstName', '{first_name}', 'plain'),
    ('accounts_user', 'lastName', '{last_name}', 'plain'),
    ('accounts_user', 'plan', '{plan}', 'plain'),
    ('accounts_user', 'language', '{language}', 'plain'),
    ('accounts_user', 'isActive', '{is_active}', 'plain'),
    ('accounts_user', 'isStaff', '{is_staff}', 'plain'),
    ('accounts_user', 'isSuperuser', '{is_superuser}', 'plain'),
    ('accounts_workspace', 'name', '{name}', 'plain'),
    ('accounts_workspace', 'plan', '{plan}', 'plain'),
    ('accounts_workspace', 'ignoredNetworks', '{ignored_networks}', 'plain'),
    ('accounts_workspace', 'healthCheck', '{health_check}', 'plain'),
    ('accounts_workspace', 'codeLength', '{code_length}', 'plain'),
    ('accounts_workspace', 'codeAlphabet', '{code_alphabet}', 'plain'),
    ('accounts_member', 'role', '{role}', 'plain'),
    ('accounts_scopedkey', 'name', '{name}', 'plain'),
    ('accounts_scopedkey', 'onlyOwn', '{only_own}', 'plain'),
    ('accounts_scopedkey', 'expiresAt', '{expires_at}', 'moment'),
    ('accounts_scopedkey', 'domainId', '{domain_id}', 'domain'),
    ('accounts_scopedkey', 'scopes', '{scopes}', 'scopes'),
    ('accounts_scopedkey', 'belongsTo', '{user_id}', 'member or workspace'),
    ('accounts_scopedkey', 'issuer', '{issuer}', 'present'),
    ('accounts_scopedkey', 'audience', '{audience}', 'present'),
    ('accounts_scopedkey', 'subject', '{subject}', 'present'),
    ('accounts_scopedkey', 'jwks', '{jwks}', 'present');

-- Writes a row of the history in the caller's transaction. By default, its author is that of the transaction, and its
-- time is that of the statement.
CREATE FUNCTION accounts_record_change(
    owner bigint, object uuid, action text, before jsonb, after jsonb,
    author jsonb DEFAULT nullif(current_setting('history.author', true), '')::jsonb,
    changed_at timestamptz DEFAULT statement_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_change (
        owner_id, object_id, action, before, after, actor_id, via, key_id, token_issuer, token_subject, request_id,
        trace_id, changed_at
    ) VALUES (
        owner, object, action, before, after,
        (author ->> 'actor')::bigint, coalesce(author ->> 'via', 'service'), (author ->> 'key')::uuid,
        author -> 'token' ->> 0, author -> 'token' ->> 1, coalesce(author ->> 'request', ''),
        author ->> 'trace', changed_at
    );
END $$;

-- A time as the API formats it.
CREATE FUNCTION accounts_moment(moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z');
END $$;

-- The value of one name of a row. PL/pgSQL plans a statement when it is first executed, so the tables of later migrations
-- may be missing until then.
CREATE FUNCTION accounts_shown(named accounts_historyname, record jsonb, is_after boolean) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    value jsonb := record -> named.columns[1];
BEGIN
    CASE named.form
    -- A new row without the value does not record it.
    WHEN 'plain', 'present' THEN
        RETURN value;
    -- Only whether there is a value.
    WHEN 'secret' THEN
        RETURN CASE WHEN value <> 'null' THEN '"set"' WHEN is_after THEN '"removed"' ELSE 'null' END;
    -- Only that it changed.
    WHEN 'announced' THEN
        RETURN CASE WHEN is_after THEN '"changed"' ELSE 'null' END;
    WHEN 'moment' THEN
        RETURN coalesce(to_jsonb(accounts_moment((value #>> '{}')::timestamptz)), 'null');
    -- The columns that have a value.
    WHEN 'object' THEN
        RETURN (
            SELECT coalesce(jsonb_object_agg(part, record -> name), '{}')
            FROM unnest(named.parts, named.columns) columns (part, name)
            WHERE record -> name NOT IN ('null', '[]')
        );
    -- A list of objects, without their internal members.
    WHEN 'entries' THEN
        RETURN (
            SELECT coalesce(jsonb_agg(entry - ARRAY['number', 'href'] ORDER BY place), '[]')
            FROM jsonb_array_elements(value) WITH ORDINALITY entries (entry, place)
        );
    WHEN 'domain' THEN
        RETURN coalesce((SELECT to_jsonb(public_id) FROM domains_domain WHERE id = (value #>> '{}')::bigint), 'null');
    WHEN 'domain or base' THEN
        RETURN coalesce((SELECT to_jsonb(public_id) FROM domains_domain WHERE id = (value #>> '{}')::bigint), '"base"');
    WHEN 'member or workspace' THEN
        RETURN CASE WHEN value = 'null' THEN '"workspace"' ELSE '"member"' END;
    -- In the order of their bits.
    WHEN 'scopes' THEN
        RETURN (
            SELECT coalesce(jsonb_agg(scope ORDER BY place), '[]') FROM unnest(ARRAY[
                'urls:read', 'urls:write', 'analytics:read', 'domains:read', 'domains:write', 'qr:write',
                'members:read', 'members:write', 'webhooks:write', 'urls:move'
            ]) WITH ORDINALITY scopes (scope, place)
            WHERE value::integer & (1 << (place::integer - 1)) <> 0
        );
    END CASE;
END $$;

-- All names of a row, or only these, as the creation and the deletion of its object record them.
CREATE FUNCTION accounts_recorded(of_table text, record jsonb, names text[] DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(named.name, accounts_shown(named, record, false)), '{}')
        FROM accounts_historyname named
        WHERE named.table_name = of_table AND (names IS NULL OR named.name = ANY (names))
            AND (named.form NOT IN ('secret', 'present') OR record -> named.columns[1] <> 'null')
    );
END $$;

-- Records a change of a row. The arguments are the action, the column of the workspace and, optionally, the only names to
-- record of a new row. An update that changes the workspace is also recorded as "moved_out" and "moved_in". A row without
-- an API id is a membership, and has that of its account.
--
-- Generic plans: the deletion of a domain forces custom plans, and would plan every statement again for each of its links.
CREATE FUNCTION accounts_record_row() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    action text := TG_ARGV[0];
    former jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    changed jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    latest jsonb := coalesce(changed, former);
    owner bigint := latest ->> TG_ARGV[1];
    object uuid := latest ->> 'public_id';
    before jsonb := '{}';
    after jsonb := '{}';
    -- The version that the change made, so that clients can compare the two. Manual SQL may keep the former version.
    changed_at timestamptz := statement_timestamp();
BEGIN
    IF object IS NULL THEN
        object := (SELECT public_id FROM accounts_user WHERE id = (latest ->> 'user_id')::bigint);
    END IF;
    IF TG_OP = 'INSERT' THEN
        after := accounts_recorded(TG_TABLE_NAME, changed, TG_ARGV[2]::text[]);
    ELSIF TG_OP = 'DELETE' THEN
        before := accounts_recorded(TG_TABLE_NAME, former);
    ELSE
        IF (changed ->> 'updated_at')::timestamptz > (former ->> 'updated_at')::timestamptz THEN
            changed_at := changed ->> 'updated_at';
        END IF;
        IF former -> TG_ARGV[1] <> changed -> TG_ARGV[1] THEN
            -- Neither workspace learns the id of the other.
            PERFORM accounts_record_change(
                (former ->> TG_ARGV[1])::bigint, object, split_part(action, '.', 1) || '.moved_out',
                accounts_recorded(TG_TABLE_NAME, former), '{}', changed_at => changed_at
            );
            PERFORM accounts_record_change(
                owner, object, split_part(action, '.', 1) || '.moved_in', '{}',
                accounts_recorded(TG_TABLE_NAME, changed), changed_at => changed_at
            );
        END IF;
        SELECT jsonb_object_agg(named.name, accounts_shown(named, former, false)),
            jsonb_object_agg(named.name, accounts_shown(named, changed, true))
        INTO before, after FROM accounts_historyname named
        WHERE named.table_name = TG_TABLE_NAME AND CASE named.form
            WHEN 'object' THEN EXISTS (
                SELECT FROM unnest(named.columns) name WHERE former -> name <> changed -> name
            )
            -- For most names, without a subquery.
            ELSE former -> named.columns[1] <> changed -> named.columns[1]
        END;
        IF after IS NULL THEN
            PERFORM set_config('history.has_unrecorded', 'on', true);
            RETURN NULL;
        END IF;
    END IF;
    PERFORM accounts_record_change(owner, object, action, before, after, changed_at => changed_at);
    RETURN NULL;
END $$;

-- Services record new passwords: a stored hash also changes when a login renews it.
CREATE TRIGGER accounts_record_row AFTER UPDATE ON accounts_user FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('account.updated', 'id');
-- A personal workspace begins with its account.
CREATE TRIGGER accounts_record_new_row AFTER INSERT ON accounts_workspace FOR EACH ROW
    WHEN (NEW.account_id IS NULL) EXECUTE FUNCTION accounts_record_row('workspace.created', 'id');
CREATE TRIGGER accounts_record_row AFTER UPDATE ON accounts_workspace FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('workspace.updated', 'id');
-- A personal workspace, which has the number of its account, has no other members.
CREATE TRIGGER accounts_record_new_row AFTER INSERT ON accounts_member FOR EACH ROW
    WHEN (NEW.workspace_id <> NEW.user_id) EXECUTE FUNCTION accounts_record_row('member.added', 'workspace_id');
CREATE TRIGGER accounts_record_row AFTER UPDATE ON accounts_member FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('member.updated', 'workspace_id');
CREATE TRIGGER accounts_record_former_row AFTER DELETE ON accounts_member FOR EACH ROW
    WHEN (OLD.workspace_id <> OLD.user_id) EXECUTE FUNCTION accounts_record_row('member.removed', 'workspace_id');
CREATE TRIGGER accounts_record_new_row AFTER INSERT ON accounts_scopedkey FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('key.created', 'workspace_id');
CREATE TRIGGER accounts_record_row AFTER UPDATE ON accounts_scopedkey FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('key.updated', 'workspace_id');
CREATE TRIGGER accounts_record_former_row AFTER DELETE ON accounts_scopedkey FOR EACH ROW
    EXECUTE FUNCTION accounts_record_row('key.deleted', 'workspace_id');

CREATE FUNCTION accounts_record_rotation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM accounts_record_change(
        NEW.workspace_id, NEW.public_id, 'key.rotated', '{}',
        jsonb_build_object('graceUntil', accounts_moment(NEW.previous_until))
    );
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_record_rotation AFTER UPDATE ON accounts_scopedkey FOR EACH ROW
    WHEN (OLD.digest <> NEW.digest) EXECUTE FUNCTION accounts_record_rotation();

-- The history of a workspace is deleted with it. A personal workspace is deleted with its account.
CREATE FUNCTION accounts_delete_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM accounts_change WHERE owner_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER accounts_delete_history AFTER DELETE ON accounts_workspace
    FOR EACH ROW EXECUTE FUNCTION accounts_delete_history();
