-- Written by `make schema`. Digest of the migrations: fcce5c9ed89903695277419b79083e1924ddab23955df6e10133e136a28c6be0
SET LOCAL check_function_bodies = false;
CREATE FUNCTION accounts_create_personal_workspace() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO accounts_workspace (id, public_id, account_id, name, created_at)
    VALUES (NEW.id, NEW.public_id, NEW.id, 'Personal', NEW.created_at);
    INSERT INTO accounts_member (workspace_id, user_id, role, created_at)
    VALUES (NEW.id, NEW.id, 'owner', NEW.created_at);
    RETURN NULL;
END $$;
CREATE FUNCTION accounts_delete_history() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM accounts_change WHERE owner_id = OLD.id;
    RETURN NULL;
END $$;
CREATE FUNCTION accounts_differences(fields jsonb, others jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(fields)
        WHERE value IS DISTINCT FROM others -> key
    );
END $$;
CREATE TABLE accounts_user (
    id bigint NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    is_superuser boolean NOT NULL,
    public_id uuid NOT NULL,
    email character varying(254) NOT NULL,
    first_name character varying(100) NOT NULL,
    last_name character varying(100) NOT NULL,
    plan character varying(10) NOT NULL,
    is_active boolean NOT NULL,
    is_staff boolean NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    is_staff_by_provider boolean DEFAULT false NOT NULL
);
COMMENT ON TABLE accounts_user IS 'Accounts. An account signs in with its e-mail address.';
COMMENT ON COLUMN accounts_user.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user.password IS 'Argon2 hash.';
COMMENT ON COLUMN accounts_user.last_login IS 'Last login to the pages.';
COMMENT ON COLUMN accounts_user.is_superuser IS 'Whether the account has every permission in the admin.';
COMMENT ON COLUMN accounts_user.public_id IS 'Id in tokens and in the API.';
COMMENT ON COLUMN accounts_user.email IS 'Login, in lower case.';
COMMENT ON COLUMN accounts_user.first_name IS 'May be empty.';
COMMENT ON COLUMN accounts_user.last_name IS 'May be empty.';
COMMENT ON COLUMN accounts_user.plan IS 'free, pro or enterprise.';
COMMENT ON COLUMN accounts_user.is_active IS 'False: no key, token or session works.';
COMMENT ON COLUMN accounts_user.is_staff IS 'Whether the account may open the admin.';
COMMENT ON COLUMN accounts_user.created_at IS 'Creation time.';
COMMENT ON COLUMN accounts_user.is_staff_by_provider IS 'Whether is_staff holds only in sessions that were opened with the OpenID provider.';
CREATE FUNCTION accounts_fields(account accounts_user) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN jsonb_build_object(
        'firstName', account.first_name, 'lastName', account.last_name, 'plan', account.plan,
        'isActive', account.is_active, 'isStaff', account.is_staff, 'isSuperuser', account.is_superuser
    );
END $$;
CREATE FUNCTION accounts_limits_owner(workspace bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
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
CREATE FUNCTION accounts_record_account_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION accounts_record_change(owner bigint, object uuid, action text, before jsonb, after jsonb, author jsonb DEFAULT (NULLIF(current_setting('history.author'::text, true), ''::text))::jsonb, changed_at timestamp with time zone DEFAULT statement_timestamp()) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO accounts_change (owner_id, object_id, action, before, after, actor_id, via, key_id, request_id, changed_at)
    VALUES (
        owner, object, action, before, after,
        (author ->> 'actor')::bigint, coalesce(author ->> 'via', 'service'), (author ->> 'key')::uuid,
        coalesce(author ->> 'request', ''), changed_at
    );
END $$;
CREATE FUNCTION accounts_record_identity_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    is_new boolean := TG_OP = 'INSERT';
    identity socialaccount_socialaccount := CASE WHEN is_new THEN NEW ELSE OLD END;
    account accounts_user;
BEGIN
    SELECT u.* INTO account FROM accounts_user u JOIN accounts_workspace w ON w.id = u.id WHERE u.id = identity.user_id;
    -- No row if the same transaction has deleted the account.
    IF FOUND THEN
        PERFORM accounts_record_change(
            account.id, account.public_id, 'account.updated',
            CASE WHEN is_new THEN '{}' ELSE '{"identity": "set"}' END::jsonb,
            CASE WHEN is_new THEN '{"identity": "set"}' ELSE '{"identity": "removed"}' END::jsonb,
            coalesce(
                nullif(current_setting('history.author', true), '')::jsonb,
                jsonb_build_object('actor', account.id, 'via', 'page')
            )
        );
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION accounts_record_member_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION accounts_record_workspace_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION accounts_sharing(owner bigint) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN ARRAY(
        SELECT owner UNION
        SELECT m.workspace_id FROM accounts_member m
        WHERE m.user_id = owner AND m.role = 'owner' AND accounts_limits_owner(m.workspace_id) = owner
    );
END $$;
CREATE FUNCTION accounts_stored_bytes(workspaces bigint[]) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN (SELECT coalesce(sum(bytes), 0) FROM links_ownertotals WHERE owner_id = ANY (workspaces));
END $$;
CREATE FUNCTION analytics_after_final_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id)
    SELECT OLD.link_id WHERE NOT EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION analytics_after_link_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO analytics_deletedlink (link_id) SELECT id FROM former
    WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = former.id);
    RETURN NULL;
END $$;
CREATE FUNCTION analytics_unpacked(counts text) RETURNS TABLE(dimension smallint, value text, clicks bigint)
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT left(entry, 1)::smallint, split_part(substr(entry, 2), E'\x1f', 1),
        coalesce(nullif(split_part(entry, E'\x1f', 2), ''), '1')::bigint
    FROM unnest(string_to_array(counts, E'\x1e')) entry
$$;
CREATE FUNCTION bans_hosts_of(url text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
DECLARE
    host text := rtrim(substring(url FROM '^[a-z]+://(\[[^]]*\]|[^/:?#]*)'), '.');
    labels text[] := string_to_array(host, '.');
    words text[] := regexp_match(host, '^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$');
    bytes bytea;
BEGIN
    IF words IS NOT NULL THEN
        bytes := decode(lpad(words[1], 4, '0') || lpad(words[2], 4, '0'), 'hex');
        RETURN ARRAY[host, concat_ws(
            '.', get_byte(bytes, 0), get_byte(bytes, 1), get_byte(bytes, 2), get_byte(bytes, 3)
        )];
    END IF;
    RETURN ARRAY(SELECT array_to_string(labels[i:], '.') FROM generate_subscripts(labels, 1) i);
END $_$;
CREATE FUNCTION bans_is_host_banned(url text) RETURNS boolean
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    hosts text[];
BEGIN
    IF NOT EXISTS (SELECT FROM bans_ban WHERE host IS NOT NULL) THEN
        RETURN false;
    END IF;
    hosts := bans_hosts_of(url);
    RETURN EXISTS (SELECT FROM bans_ban WHERE host = ANY(hosts));
END $$;
CREATE TABLE domains_domain (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    domain character varying(253) NOT NULL,
    subdomain character varying(253),
    host character varying(253) NOT NULL,
    status character varying(10) NOT NULL,
    root_url text,
    not_found_url text,
    expired_url text,
    token character varying(32) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    claimed_until timestamp with time zone DEFAULT (statement_timestamp() + '7 days'::interval) NOT NULL,
    recheck_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    failed_checks smallint NOT NULL,
    owner_id bigint NOT NULL,
    CONSTRAINT domains_domain_failed_checks_check CHECK ((failed_checks >= 0))
);
COMMENT ON TABLE domains_domain IS 'Customers'' domains. The default domain has no row.';
COMMENT ON COLUMN domains_domain.id IS 'Internal key.';
COMMENT ON COLUMN domains_domain.public_id IS 'API id.';
COMMENT ON COLUMN domains_domain.domain IS 'As the owner entered it.';
COMMENT ON COLUMN domains_domain.subdomain IS 'As entered; null: the domain itself.';
COMMENT ON COLUMN domains_domain.host IS 'Full name: lower case, A-labels.';
COMMENT ON COLUMN domains_domain.status IS 'pending, active (verified) or inactive.';
COMMENT ON COLUMN domains_domain.root_url IS 'Where / redirects; null: built-in page.';
COMMENT ON COLUMN domains_domain.not_found_url IS 'Where unknown codes redirect; null: 404.';
COMMENT ON COLUMN domains_domain.expired_url IS 'Where expired links redirect; null: 410.';
COMMENT ON COLUMN domains_domain.token IS 'Token that the owner publishes in DNS.';
COMMENT ON COLUMN domains_domain.created_at IS 'Creation time.';
COMMENT ON COLUMN domains_domain.claimed_until IS 'Deadline to verify a pending domain.';
COMMENT ON COLUMN domains_domain.recheck_at IS 'Next DNS check of an active domain.';
COMMENT ON COLUMN domains_domain.failed_checks IS 'Consecutive failed DNS checks.';
COMMENT ON COLUMN domains_domain.owner_id IS 'The workspace that claimed the domain.';
CREATE FUNCTION domains_fields(domain domains_domain) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN jsonb_build_object(
        'status', domain.status, 'rootUrl', domain.root_url, 'notFoundUrl', domain.not_found_url,
        'expiredUrl', domain.expired_url
    );
END $$;
CREATE TABLE accounts_scopedkey (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    scopes smallint NOT NULL,
    domain_id bigint,
    only_own boolean NOT NULL,
    digest bytea NOT NULL,
    previous_digest bytea,
    previous_until timestamp with time zone,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    user_id bigint NOT NULL,
    workspace_id bigint NOT NULL,
    CONSTRAINT accounts_scopedkey_scopes_check CHECK ((scopes >= 0)),
    CONSTRAINT scopedkey_grace CHECK ((((previous_digest IS NULL) AND (previous_until IS NULL)) OR ((previous_digest IS NOT NULL) AND (previous_until IS NOT NULL))))
);
COMMENT ON TABLE accounts_scopedkey IS 'API keys with scopes. Each has the digest of its key only.';
COMMENT ON COLUMN accounts_scopedkey.id IS 'Internal key.';
COMMENT ON COLUMN accounts_scopedkey.public_id IS 'API id.';
COMMENT ON COLUMN accounts_scopedkey.name IS 'For people.';
COMMENT ON COLUMN accounts_scopedkey.scopes IS 'One bit for each scope, in the order of their list.';
COMMENT ON COLUMN accounts_scopedkey.domain_id IS 'Limits it to the links on this domain. Null: any domain.';
COMMENT ON COLUMN accounts_scopedkey.only_own IS 'Whether it is limited to the links that it created.';
COMMENT ON COLUMN accounts_scopedkey.digest IS 'SHA-256 digest, for lookup.';
COMMENT ON COLUMN accounts_scopedkey.previous_digest IS 'Digest of the key before its rotation, while that one works.';
COMMENT ON COLUMN accounts_scopedkey.previous_until IS 'When the former key stops working.';
COMMENT ON COLUMN accounts_scopedkey.expires_at IS 'When the key expires. Null: never.';
COMMENT ON COLUMN accounts_scopedkey.last_used_at IS 'Last use, exact to a minute. Null: never.';
COMMENT ON COLUMN accounts_scopedkey.created_at IS 'Creation time.';
COMMENT ON COLUMN accounts_scopedkey.user_id IS 'The member who created it, and for whom it acts.';
COMMENT ON COLUMN accounts_scopedkey.workspace_id IS 'The workspace in which it acts.';
CREATE FUNCTION domains_key_fields(key accounts_scopedkey) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    RETURN jsonb_build_object(
        'name', key.name, 'onlyOwn', key.only_own, 'expiresAt', domains_moment(key.expires_at),
        'domainId', (SELECT public_id FROM domains_domain WHERE id = key.domain_id),
        'scopes', (
            SELECT coalesce(jsonb_agg(scope ORDER BY position), '[]') FROM unnest(ARRAY[
                'urls:read', 'urls:write', 'analytics:read', 'domains:read', 'domains:write', 'qr:write',
                'keys:write', 'members:write'
            ]) WITH ORDINALITY scopes (scope, position)
            WHERE key.scopes::integer & (1 << (position::integer - 1)) <> 0
        )
    );
END $$;
CREATE FUNCTION domains_moment(moment timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z');
END $$;
CREATE FUNCTION domains_record_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'domain.created', '{}', jsonb_build_object('fullDomain', NEW.host)
        );
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM accounts_record_change(
            OLD.owner_id, OLD.public_id, 'domain.deleted',
            domains_fields(OLD) || jsonb_build_object('fullDomain', OLD.host), '{}'
        );
    ELSE
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'domain.updated',
            accounts_differences(domains_fields(OLD), domains_fields(NEW)),
            accounts_differences(domains_fields(NEW), domains_fields(OLD))
        );
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION domains_record_key_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    former jsonb := '{}';
    changed jsonb := '{}';
    key accounts_scopedkey;
BEGIN
    IF TG_OP = 'DELETE' THEN
        key := OLD;
        former := domains_key_fields(OLD);
    ELSE
        key := NEW;
        changed := domains_key_fields(NEW);
    END IF;
    IF TG_OP = 'UPDATE' THEN
        former := accounts_differences(domains_key_fields(OLD), changed);
        changed := accounts_differences(changed, domains_key_fields(OLD));
        IF OLD.digest <> NEW.digest THEN
            PERFORM accounts_record_change(
                key.workspace_id, key.public_id, 'key.rotated', '{}', jsonb_build_object('graceUntil', domains_moment(NEW.previous_until))
            );
        END IF;
        IF changed = '{}' THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM accounts_record_change(
        key.workspace_id, key.public_id,
        CASE TG_OP WHEN 'INSERT' THEN 'key.created' WHEN 'UPDATE' THEN 'key.updated' ELSE 'key.deleted' END,
        former, changed
    );
    RETURN NULL;
END $$;
CREATE FUNCTION links_after_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    -- Deleted links that cannot be undeleted, because their account is deleted.
    gone bigint[] := ARRAY(
        SELECT id FROM old_rows WHERE NOT EXISTS (SELECT FROM links_deletedlink WHERE link_id = id)
    );
BEGIN
    DELETE FROM links_searchable WHERE link_id = ANY (ARRAY(SELECT id FROM old_rows));
    DELETE FROM links_route WHERE link_id = ANY (gone);
    DELETE FROM links_linkban WHERE link_id = ANY (gone);
    DELETE FROM links_visitorkey WHERE link_id = ANY (gone);
    -- An UPDATE rather than an upsert, because the same transaction may delete the owner. Two such statements lock the
    -- slots in the same order, so they cannot deadlock.
    WITH deleted AS (
        SELECT owner_id, (id % 8)::smallint AS slot, count(*) AS links, count(*) FILTER (WHERE is_active) AS active,
            -- Those of a link that can be undeleted count until it is deleted for good.
            coalesce(sum(links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            )) FILTER (WHERE id = ANY (gone)), 0) AS bytes
        FROM old_rows GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t
    SET links = t.links - deleted.links, active_links = t.active_links - deleted.active,
        changes = t.changes + deleted.links, bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;
CREATE FUNCTION links_after_final_deletion() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        DELETE FROM links_route WHERE link_id = OLD.link_id;
        DELETE FROM links_linkban WHERE link_id = OLD.link_id;
        DELETE FROM links_visitorkey WHERE link_id = OLD.link_id;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_after_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    near bigint[];
BEGIN
    IF EXISTS (SELECT FROM accounts_storagelimit) THEN
        -- Almost all end here: all workspaces of the owner's owners together are far below the lowest limit. Without a
        -- variable, the query is planned only once.
        SELECT array_agg(owner_id) INTO near FROM (SELECT DISTINCT owner_id FROM new_rows) owners
        WHERE (SELECT min(bytes) FROM accounts_storagelimit) - links_near_limit() < (
            SELECT sum(t.bytes)
            FROM accounts_member m JOIN accounts_member o ON o.user_id = m.user_id AND o.role = 'owner'
            JOIN links_ownertotals t ON t.owner_id = o.workspace_id
            WHERE m.workspace_id = owners.owner_id AND m.role = 'owner'
        );
        IF near IS NOT NULL THEN
            near := links_lock_storage(near);
        END IF;
    END IF;
    INSERT INTO links_clickcounter (link_id, owner_id, clicks) SELECT id, owner_id, 0 FROM new_rows;
    INSERT INTO links_searchable (link_id, owner_id, created_at, is_active, tag_keys, domain_id, content)
    SELECT id, owner_id, created_at, is_active, tag_keys, coalesce(domain_id, 0),
        links_content(
            title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
        )
    FROM new_rows;
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes, bytes)
    SELECT owner_id, id % 8, count(*), count(*) FILTER (WHERE is_active), 0, count(*), sum(links_size(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ))
    FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
            changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes;
    IF near IS NOT NULL THEN
        PERFORM links_check_storage(owner) FROM unnest(near) owner;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_after_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    near bigint[];
    grown bigint[];
BEGIN
    IF EXISTS (SELECT FROM accounts_storagelimit) THEN
        -- Almost all end here: all workspaces of the owner's owners together are far below the lowest limit. Without a
        -- variable, the query is planned only once.
        SELECT array_agg(owner_id) INTO near FROM (SELECT DISTINCT owner_id FROM new_rows) owners
        WHERE (SELECT min(bytes) FROM accounts_storagelimit) - links_near_limit() < (
            SELECT sum(t.bytes)
            FROM accounts_member m JOIN accounts_member o ON o.user_id = m.user_id AND o.role = 'owner'
            JOIN links_ownertotals t ON t.owner_id = o.workspace_id
            WHERE m.workspace_id = owners.owner_id AND m.role = 'owner'
        );
        IF near IS NOT NULL THEN
            near := links_lock_storage(near);
        END IF;
    END IF;
    WITH searchable AS (
        INSERT INTO links_searchable AS s (link_id, owner_id, created_at, is_active, tag_keys, domain_id, content)
        SELECT id, owner_id, created_at, is_active, tag_keys, coalesce(domain_id, 0),
            links_content(
                title, original_url, target_url, destination, other_destinations, rules, split, short_code, custom_code
            )
        FROM new_rows
        ON CONFLICT (link_id) DO UPDATE
            SET owner_id = EXCLUDED.owner_id, created_at = EXCLUDED.created_at, is_active = EXCLUDED.is_active,
                tag_keys = EXCLUDED.tag_keys, domain_id = EXCLUDED.domain_id, content = EXCLUDED.content
            WHERE (s.owner_id, s.created_at, s.is_active, s.tag_keys, s.domain_id, s.content) IS DISTINCT FROM (
                EXCLUDED.owner_id, EXCLUDED.created_at, EXCLUDED.is_active, EXCLUDED.tag_keys, EXCLUDED.domain_id,
                EXCLUDED.content
            )
        RETURNING s.owner_id, s.link_id
    ), changed AS (
        SELECT owner_id, (id % 8)::smallint AS slot, sum(link) AS links, sum(active) AS active, sum(change) AS changes,
            sum(size) AS bytes
        FROM (
            SELECT owner_id, id, 1 AS link, is_active::int AS active, 0 AS change, links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            ) AS size FROM new_rows
            UNION ALL SELECT owner_id, id, -1, -is_active::int, 0, -links_size(
                original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
                not_started_url, expired_url, password, utm, rules, split, preview
            ) FROM old_rows
            UNION ALL SELECT owner_id, link_id, 0, 0, 1, 0 FROM searchable
        ) rows
        GROUP BY 1, 2
    ), written AS (
        -- A move decreases the former owner's links by one and increases the new owner's.
        INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, changes, bytes)
        SELECT owner_id, slot, links, active, 0, changes, bytes FROM changed
        WHERE links <> 0 OR active <> 0 OR changes <> 0 OR bytes <> 0 ORDER BY 1, 2
        ON CONFLICT (owner_id, slot) DO UPDATE
            SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links,
                changes = t.changes + EXCLUDED.changes, bytes = t.bytes + EXCLUDED.bytes
    )
    SELECT array_agg(owner_id ORDER BY owner_id) INTO grown
    FROM (SELECT owner_id FROM changed GROUP BY 1 HAVING sum(bytes) > 0) owners;
    IF near IS NOT NULL THEN
        PERFORM links_check_storage(owner) FROM unnest(near) owner WHERE owner = ANY (grown);
    END IF;
    RETURN NULL;
END $$;
CREATE TABLE links_link (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    short_code character varying(255) NOT NULL,
    custom_code character varying(255),
    original_url text NOT NULL,
    destination text NOT NULL,
    title character varying(800),
    description character varying(2000),
    tags text[] NOT NULL,
    tag_keys text[] NOT NULL,
    is_active boolean NOT NULL,
    expires_at timestamp with time zone,
    password character varying(200),
    utm jsonb NOT NULL,
    max_clicks integer,
    allowed_countries character varying(2)[] NOT NULL,
    blocked_countries character varying(2)[] NOT NULL,
    allowed_devices character varying(7)[] NOT NULL,
    redirect_type smallint NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    domain_id bigint,
    owner_id bigint NOT NULL,
    max_clicks_per_visitor integer,
    target_url text,
    other_destinations text[] DEFAULT '{}'::text[] NOT NULL,
    starts_at timestamp with time zone,
    not_started_url text,
    expired_url text,
    forward_query boolean DEFAULT false NOT NULL,
    referrer_policy text,
    rules jsonb DEFAULT '[]'::jsonb NOT NULL,
    split jsonb DEFAULT '[]'::jsonb NOT NULL,
    preview jsonb,
    creator_id bigint,
    key_id bigint,
    CONSTRAINT links_link_max_clicks_check CHECK ((max_clicks >= 0)),
    CONSTRAINT links_link_max_clicks_per_visitor_check CHECK ((max_clicks_per_visitor >= 0)),
    CONSTRAINT links_link_redirect_type_check CHECK ((redirect_type >= 0))
);
COMMENT ON TABLE links_link IS 'Short links.';
COMMENT ON COLUMN links_link.id IS 'Internal key.';
COMMENT ON COLUMN links_link.public_id IS 'API id.';
COMMENT ON COLUMN links_link.short_code IS 'Generated; never changes.';
COMMENT ON COLUMN links_link.custom_code IS 'Null: none.';
COMMENT ON COLUMN links_link.original_url IS 'Destination as entered.';
COMMENT ON COLUMN links_link.destination IS 'Canonical form of target_url or original_url, sent in redirects.';
COMMENT ON COLUMN links_link.title IS 'Null: never set.';
COMMENT ON COLUMN links_link.description IS 'Null: never set.';
COMMENT ON COLUMN links_link.tags IS 'Tags as entered.';
COMMENT ON COLUMN links_link.tag_keys IS 'Case-folded tags, for filters.';
COMMENT ON COLUMN links_link.is_active IS 'The owner''s switch.';
COMMENT ON COLUMN links_link.expires_at IS 'Null: never.';
COMMENT ON COLUMN links_link.password IS 'Hash.';
COMMENT ON COLUMN links_link.utm IS 'utm parameters added to redirects.';
COMMENT ON COLUMN links_link.max_clicks IS 'Null: no limit.';
COMMENT ON COLUMN links_link.allowed_countries IS 'ISO 3166-1 alpha-2; empty: all.';
COMMENT ON COLUMN links_link.blocked_countries IS 'ISO 3166-1 alpha-2.';
COMMENT ON COLUMN links_link.allowed_devices IS 'desktop, mobile, tablet; empty: all.';
COMMENT ON COLUMN links_link.redirect_type IS 'HTTP status: 301 or 302.';
COMMENT ON COLUMN links_link.created_at IS 'Creation time.';
COMMENT ON COLUMN links_link.updated_at IS 'Last change.';
COMMENT ON COLUMN links_link.domain_id IS 'Null: the default domain.';
COMMENT ON COLUMN links_link.owner_id IS 'The workspace.';
COMMENT ON COLUMN links_link.max_clicks_per_visitor IS 'Null: no limit.';
COMMENT ON COLUMN links_link.target_url IS 'Replaces original_url as the destination. As entered. Null: none.';
COMMENT ON COLUMN links_link.other_destinations IS 'Canonical form of all other URLs to which the link can lead, and of the image of its preview.';
COMMENT ON COLUMN links_link.starts_at IS 'Null: at once.';
COMMENT ON COLUMN links_link.not_started_url IS 'Where visitors go before starts_at. Canonical form. Null: 404.';
COMMENT ON COLUMN links_link.expired_url IS 'Where visitors go after the end or the last click. Canonical form. Null: the domain''s, or 410.';
COMMENT ON COLUMN links_link.forward_query IS 'Whether redirects add the visitor''s parameters.';
COMMENT ON COLUMN links_link.referrer_policy IS 'Referrer-Policy of redirects. Null: none.';
COMMENT ON COLUMN links_link.rules IS 'Destinations with conditions on the visitor; the first rule that matches applies.';
COMMENT ON COLUMN links_link.split IS 'Destinations that each get a share of the visitors, after the rules.';
COMMENT ON COLUMN links_link.preview IS 'The card that messengers show: title, description and imageUrl.';
COMMENT ON COLUMN links_link.creator_id IS 'The account that created the link. Null: that of the personal workspace.';
COMMENT ON COLUMN links_link.key_id IS 'The key with scopes that created the link. Null: none.';
CREATE FUNCTION links_all_fields(link links_link) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN links_fields(link)
        || jsonb_build_object(
            'originalUrl', link.original_url, 'shortCode', link.short_code,
            'domainId', links_domain_id(link.domain_id)
        )
        || CASE WHEN link.password IS NULL THEN '{}'::jsonb ELSE '{"password": "set"}' END;
END $$;
CREATE FUNCTION links_ban_reason(link bigint, owner bigint, destination text, others text[]) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $_$
BEGIN
    RETURN CASE WHEN EXISTS (
        SELECT FROM (
            SELECT reason FROM links_linkban WHERE link_id = link
            UNION ALL
            SELECT reason FROM bans_ban WHERE owner_id = owner
            UNION ALL
            SELECT reason FROM bans_ban
            WHERE host = ANY (ARRAY(
                SELECT host FROM unnest(others || destination) url, unnest(bans_hosts_of(url)) host
            ))
        ) ban
        WHERE reason ~* '^\s*legal\s*$'
    ) THEN 'legal' ELSE 'other' END;
END $_$;
CREATE FUNCTION links_branches(rules jsonb, split jsonb) RETURNS TABLE(number smallint, branch uuid, name text, url text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT (entry ->> 'number')::smallint, (entry ->> '_id')::uuid, entry ->> 'name', entry ->> 'href'
    FROM jsonb_array_elements(rules || split) entry
$$;
CREATE FUNCTION links_bytes_after_final_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH deleted AS (
        SELECT d.owner_id, (d.link_id % 8)::smallint AS slot, sum(links_size(
            original_url, target_url, destination, other_destinations, title, description, tags, tag_keys,
            not_started_url, expired_url, password, utm, rules, split, preview
        )) AS bytes
        FROM old_rows d, jsonb_populate_record(NULL::links_link, d.link) l GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;
CREATE FUNCTION links_check_storage(owner bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    most bigint;
BEGIN
    SELECT s.bytes INTO most
    FROM accounts_workspace w LEFT JOIN accounts_user u ON u.id = w.account_id
    JOIN accounts_storagelimit s ON s.plan = coalesce(w.plan, u.plan)
    WHERE w.id = owner;
    -- An undeletion does not change the stored bytes.
    IF most < accounts_stored_bytes(accounts_sharing(accounts_limits_owner(owner)))
        AND current_setting('links.is_undeleting', true) IS DISTINCT FROM 'on'
    THEN
        RAISE EXCEPTION 'The limit of stored bytes is reached.'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'storage_limit';
    END IF;
END $$;
CREATE FUNCTION links_claim_click(link bigint, visitors bytea[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    share integer;
    secret bytea;
    hashes bytea[];
BEGIN
    PERFORM FROM links_clickcounter WHERE link_id = link FOR NO KEY UPDATE;
    SELECT l.max_clicks_per_visitor INTO share
    FROM links_link l JOIN links_clickcounter c ON c.link_id = l.id
    WHERE l.id = link AND l.is_active AND (l.expires_at IS NULL OR l.expires_at > now())
        AND (l.starts_at IS NULL OR l.starts_at <= now()) AND (l.max_clicks IS NULL OR c.clicks < l.max_clicks)
        AND NOT links_is_banned(l.id, l.owner_id, l.destination, l.other_destinations);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF share IS NOT NULL THEN
        SELECT uuid_send(key) INTO secret FROM links_visitorkey WHERE link_id = link;
        IF NOT FOUND THEN
            INSERT INTO links_visitorkey (link_id) VALUES (link) RETURNING uuid_send(key) INTO secret;
        END IF;
        hashes := ARRAY(
            SELECT sha256(secret || visitor) FROM unnest(visitors) WITH ORDINALITY v (visitor, place) ORDER BY place
        );
        IF share <= (SELECT coalesce(sum(clicks), 0) FROM links_visitorclicks
                     WHERE link_id = link AND visitor = ANY(hashes)) THEN
            RETURN false;
        END IF;
        INSERT INTO links_visitorclicks AS v (link_id, visitor, clicks) VALUES (link, hashes[1], 1)
        ON CONFLICT (link_id, visitor) DO UPDATE SET clicks = v.clicks + 1;
    END IF;
    UPDATE links_clickcounter SET clicks = clicks + 1 WHERE link_id = link;
    RETURN true;
END $$;
CREATE FUNCTION links_clicks_after_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH deleted AS (
        SELECT owner_id, (link_id % 8)::smallint AS slot, sum(clicks) AS clicks FROM old_rows
        GROUP BY 1, 2 HAVING sum(clicks) > 0
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET clicks = t.clicks - deleted.clicks
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;
CREATE FUNCTION links_clicks_after_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    own_slot smallint := nullif(current_setting('links.totals_slot', true), '');
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks)
    SELECT owner_id, coalesce(own_slot, link_id % 8), 0, 0, sum(clicks)
    FROM (
        SELECT owner_id, link_id, clicks FROM new_rows UNION ALL SELECT owner_id, link_id, -clicks FROM old_rows
    ) changed
    GROUP BY 1, 2 HAVING sum(clicks) <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks;
    RETURN NULL;
END $$;
CREATE FUNCTION links_codes_of(link bigint) RETURNS text[]
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    RETURN ARRAY(SELECT code FROM links_code WHERE link_id = link);
END $$;
CREATE FUNCTION links_content(title text, original_url text, target_url text, destination text, others text[], rules jsonb, split jsonb, short_code text, custom_code text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT lower(
        coalesce(title, '') || E'\n' || destination || E'\n'
        || CASE WHEN starts_with(destination, original_url) THEN '' ELSE original_url END || E'\n'
        || short_code || E'\n' || coalesce(custom_code, '')
        || CASE WHEN target_url IS NULL AND cardinality(others) = 0 THEN ''
            ELSE links_other_urls(target_url, destination, others, rules || split) END
    )
$$;
CREATE FUNCTION links_delete_unused_tag() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM links_tagtotals
    WHERE owner_id = NEW.owner_id AND tag_key = NEW.tag_key AND slot = NEW.slot AND links = 0;
    RETURN NULL;
END $$;
CREATE FUNCTION links_delete_visitors() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM links_visitorkey WHERE link_id = NEW.id;
    RETURN NULL;
END $$;
CREATE FUNCTION links_domain_id(identifier bigint) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN coalesce((SELECT public_id::text FROM domains_domain WHERE id = identifier), 'base');
END $$;
CREATE FUNCTION links_fields(link links_link) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN jsonb_build_object(
        'customCode', link.custom_code, 'title', link.title, 'description', link.description, 'tags', link.tags,
        'isActive', link.is_active, 'expiresAt', links_moment(link.expires_at), 'utm', link.utm,
        'restrictions', jsonb_strip_nulls(jsonb_build_object(
            'maxClicks', link.max_clicks, 'maxClicksPerVisitor', link.max_clicks_per_visitor,
            'allowedCountries', nullif(link.allowed_countries, '{}'),
            'blockedCountries', nullif(link.blocked_countries, '{}'),
            'allowedDevices', nullif(link.allowed_devices, '{}')
        )),
        'redirectType', link.redirect_type, 'targetUrl', link.target_url, 'startsAt', links_moment(link.starts_at),
        'notStartedUrl', link.not_started_url, 'expiredUrl', link.expired_url, 'forwardQuery', link.forward_query,
        'referrerPolicy', link.referrer_policy, 'rules', links_shown_branches(link.rules),
        'split', links_shown_branches(link.split), 'preview', link.preview
    );
END $$;
CREATE FUNCTION links_hint(marks text[], tags text[], term text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT string_agg(one_of, ' & ')::tsquery FROM (
        SELECT '(' || string_agg(
            '''' || replace(replace(key, '\', '\\'), '''', '''''') || '''' || suffix, ' | '
        ) || ')'
        FROM (
            SELECT i, substr(term, i, 3), '' FROM generate_series(1, length(term) - 3, 3) i
            UNION ALL SELECT 0, right(term, 3), CASE WHEN length(term) < 3 THEN ':*' ELSE '' END
            UNION ALL SELECT -1, tag, '' FROM unnest(tags) tag
            UNION ALL SELECT -1 - i, mark, '' FROM unnest(marks) WITH ORDINALITY marks (mark, i)
        ) keys (place, key, suffix)
        WHERE place < 0 OR key !~ '^[a-z0-9]?$|\x01'
        GROUP BY place
    ) all_of (one_of)
$_$;
CREATE FUNCTION links_is_banned(link bigint, owner bigint, destination text, others text[]) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    IF EXISTS (SELECT FROM links_linkban WHERE link_id = link)
        OR EXISTS (SELECT FROM bans_ban WHERE owner_id = owner)
        OR bans_is_host_banned(destination)
    THEN
        RETURN true;
    END IF;
    -- Most links have one destination: without a further query.
    IF cardinality(others) = 0 THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM unnest(others) other WHERE bans_is_host_banned(other));
END $$;
CREATE FUNCTION links_is_near_limit(owner bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    most bigint;
BEGIN
    SELECT s.bytes INTO most
    FROM accounts_workspace w LEFT JOIN accounts_user u ON u.id = w.account_id
    JOIN accounts_storagelimit s ON s.plan = coalesce(w.plan, u.plan)
    WHERE w.id = owner;
    RETURN most IS NOT NULL
        AND accounts_stored_bytes(accounts_sharing(accounts_limits_owner(owner))) > most - links_near_limit();
END $$;
CREATE FUNCTION links_keys(owner bigint, period integer, active boolean, tags text[], content text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE COST 10000 PARALLEL SAFE
    AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(tags || string_to_array(
        '#' || owner::text || E'\x01#' || owner::text || '/' || period::text
        || CASE WHEN active THEN '' ELSE E'\x01#inactive' END
        || E'\x01' || regexp_replace(content, '(...)', E'\\1\x01', 'g')
        || E'\x01' || regexp_replace(substr(content, 2), '(...)', E'\\1\x01', 'g')
        || E'\x01' || regexp_replace(substr(content, 3), '(...)', E'\\1\x01', 'g'), E'\x01'
    ), ''));
END $$;
CREATE FUNCTION links_lock_storage(owners bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    owner bigint;
    near bigint[] := '{}';
BEGIN
    -- A query with the array would be planned each time.
    FOREACH owner IN ARRAY owners LOOP
        IF links_is_near_limit(owner) THEN
            near := near || owner;
        END IF;
    END LOOP;
    IF near <> '{}' THEN
        PERFORM FROM accounts_workspace WHERE id = ANY (ARRAY(SELECT accounts_limits_owner(n) FROM unnest(near) n))
        ORDER BY id FOR NO KEY UPDATE;
    END IF;
    RETURN near;
END $$;
CREATE FUNCTION links_moment(moment timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z');
END $$;
CREATE FUNCTION links_move_to_default_domain() RETURNS trigger
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
DECLARE
    dropped bigint;
BEGIN
    PERFORM FROM links_link WHERE domain_id = OLD.id ORDER BY id FOR NO KEY UPDATE;

    -- Expired reservations, and reservations for the owners of these links, do not prevent the move of a code.
    DELETE FROM links_code reserved USING links_code c JOIN links_link l ON l.id = c.link_id
    WHERE c.domain_id = OLD.id AND c.kind IN ('custom', 'alias')
      AND reserved.domain_id IS NULL AND reserved.code = c.code AND reserved.kind = 'retired'
      AND (reserved.held_until < now() OR reserved.owner_id = l.owner_id);

    -- Selected by code, so that the index is used whatever the planner's statistics say.
    UPDATE links_code own SET kind = 'short' FROM links_link l
    WHERE l.domain_id = OLD.id AND own.domain_id IS NULL AND own.code = l.short_code AND own.link_id = l.id;

    WITH codes AS (
        SELECT code, kind, link_id FROM links_code WHERE domain_id = OLD.id AND kind IN ('custom', 'alias')
    ), moved AS (
        -- Ordered by code, so that concurrent deletions of two domains cannot deadlock.
        INSERT INTO links_code (domain_id, code, kind, link_id)
        SELECT NULL, code, kind, link_id FROM codes ORDER BY code
        ON CONFLICT DO NOTHING RETURNING 1
    )
    SELECT (SELECT count(*) FROM codes) - (SELECT count(*) FROM moved) INTO dropped;

    DELETE FROM links_code WHERE domain_id = OLD.id;

    UPDATE links_link l SET domain_id = NULL,
        updated_at = greatest(updated_at + interval '1 microsecond', now()), custom_code = (
        SELECT c.code FROM links_code c WHERE c.domain_id IS NULL AND c.code = l.custom_code AND c.link_id = l.id
    )
    WHERE l.domain_id = OLD.id;

    PERFORM set_config('domains.codes_dropped', dropped::text, true);
    RETURN OLD;
END $$;
CREATE FUNCTION links_near_limit() RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT 67108864::bigint $$;
CREATE FUNCTION links_notify(messages text[]) RETURNS void
    LANGUAGE sql
    AS $$
    SELECT count(pg_notify('destinations', message)) FROM (
        SELECT unnest(messages) WHERE cardinality(messages) <= 500
        UNION ALL SELECT '*' WHERE cardinality(messages) > 500
    ) sent (message)
$$;
CREATE FUNCTION links_notify_ban_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('destinations', '*');
    RETURN NULL;
END $$;
CREATE FUNCTION links_notify_code_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM links_notify(ARRAY(SELECT 'code ' || code FROM old_rows WHERE kind <> 'retired' LIMIT 501));
    RETURN NULL;
END $$;
CREATE FUNCTION links_notify_domain_changes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM links_notify(ARRAY(SELECT 'host ' || host FROM old_rows LIMIT 501));
    RETURN NULL;
END $$;
CREATE FUNCTION links_notify_link_changes() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    PERFORM links_notify(ARRAY(
        SELECT 'code ' || code FROM links_code WHERE link_id = ANY (ARRAY(SELECT id FROM new_rows LIMIT 501)) LIMIT 501
    ));
    RETURN NULL;
END $$;
CREATE FUNCTION links_other_urls(target_url text, destination text, others text[], branches jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    RETURN CASE WHEN starts_with(destination, target_url) THEN '' ELSE coalesce(E'\n' || target_url, '') END
        || coalesce((SELECT string_agg(E'\n' || url, '') FROM unnest(others) url), '')
        || coalesce((
            SELECT string_agg(E'\n' || (branch ->> 'url'), '') FROM jsonb_array_elements(branches) branch
            WHERE NOT starts_with(branch ->> 'href', branch ->> 'url')
        ), '');
END $$;
CREATE FUNCTION links_period(created_at timestamp with time zone) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT ((created_at AT TIME ZONE 'UTC')::date - DATE '2000-01-01') / 60
$$;
CREATE FUNCTION links_record_change() RETURNS trigger
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    former jsonb := links_fields(OLD);
    changed jsonb := links_fields(NEW);
    before jsonb;
    after jsonb;
    -- The version that the change made, so that clients can compare the two. Manual SQL may keep the former version.
    changed_at timestamptz := CASE
        WHEN NEW.updated_at > OLD.updated_at THEN NEW.updated_at ELSE statement_timestamp()
    END;
BEGIN
    -- Instead of two calls of accounts_differences, which take twice the time. Both objects have the same keys.
    SELECT coalesce(jsonb_object_agg(key, value), '{}'), coalesce(jsonb_object_agg(key, changed -> key), '{}')
    INTO before, after FROM jsonb_each(former) WHERE value IS DISTINCT FROM changed -> key;
    IF OLD.password IS DISTINCT FROM NEW.password THEN
        before := before || jsonb_build_object('password', CASE WHEN OLD.password IS NOT NULL THEN 'set' END);
        after := after || jsonb_build_object('password', CASE WHEN NEW.password IS NULL THEN 'removed' ELSE 'set' END);
    END IF;
    IF OLD.domain_id IS DISTINCT FROM NEW.domain_id THEN
        before := before || jsonb_build_object('domainId', links_domain_id(OLD.domain_id));
        after := after || jsonb_build_object('domainId', links_domain_id(NEW.domain_id));
    END IF;
    IF OLD.owner_id <> NEW.owner_id THEN
        -- Neither workspace learns the id of the other.
        PERFORM accounts_record_change(
            OLD.owner_id, OLD.public_id, 'link.moved_out', links_all_fields(OLD), '{}', changed_at => changed_at
        );
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'link.moved_in', '{}', links_all_fields(NEW), changed_at => changed_at
        );
    END IF;
    IF after <> '{}' THEN
        PERFORM accounts_record_change(
            NEW.owner_id, NEW.public_id, 'link.updated', before, after, changed_at => changed_at
        );
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_record_deletion(link links_link) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM accounts_record_change(link.owner_id, link.public_id, 'link.deleted', links_all_fields(link), '{}');
END $$;
CREATE FUNCTION links_record_routes() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    -- Not the start of the transaction: visitors may have followed the former URLs since then.
    moment timestamptz := clock_timestamp();
BEGIN
    UPDATE links_route r SET until = moment
    WHERE r.link_id = NEW.id AND r.number > 0 AND r.until IS NULL AND NOT EXISTS (
        SELECT FROM links_branches(NEW.rules, NEW.split) b
        WHERE b.number = r.number AND b.branch = r.branch AND b.url = r.url
    );
    UPDATE links_route r SET name = b.name FROM links_branches(NEW.rules, NEW.split) b
    WHERE r.link_id = NEW.id AND r.number = b.number AND r.until IS NULL AND r.name <> b.name;
    INSERT INTO links_route (link_id, number, branch, name, url, since)
    SELECT NEW.id, b.number, b.branch, b.name, b.url, moment FROM links_branches(NEW.rules, NEW.split) b
    WHERE NOT EXISTS (
        SELECT FROM links_route r WHERE r.link_id = NEW.id AND r.number = b.number AND r.until IS NULL
    );
    IF TG_OP = 'UPDATE' AND OLD.destination <> NEW.destination THEN
        UPDATE links_route SET until = moment WHERE link_id = NEW.id AND number = 0 AND until IS NULL;
        IF NOT FOUND THEN
            INSERT INTO links_route (link_id, number, name, url, since, until)
            VALUES (NEW.id, 0, '', OLD.destination, OLD.created_at, moment);
        END IF;
        INSERT INTO links_route (link_id, number, name, url, since) VALUES (NEW.id, 0, '', NEW.destination, moment);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_record_undeletion(link links_link) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM accounts_record_change(
        link.owner_id, link.public_id, 'link.undeleted', '{}', links_all_fields(link), changed_at => link.updated_at
    );
END $$;
CREATE FUNCTION links_refuse_rewrite() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'original_url and short_code of a link cannot be changed, and destination only with target_url';
END $$;
CREATE FUNCTION links_searchable_after_truncate() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    TRUNCATE links_searchable, links_route;
    RETURN NULL;
END $$;
CREATE FUNCTION links_shown_branches(branches jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    IF branches = '[]' THEN
        RETURN branches;
    END IF;
    RETURN (
        SELECT jsonb_agg(entry - ARRAY['number', 'href'] ORDER BY place)
        FROM jsonb_array_elements(branches) WITH ORDINALITY entries (entry, place)
    );
END $$;
CREATE FUNCTION links_size(original_url text, target_url text, destination text, other_destinations text[], title text, description text, tags text[], tag_keys text[], not_started_url text, expired_url text, password text, utm jsonb, rules jsonb, split jsonb, preview jsonb) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT 500 + octet_length(concat(
        original_url, target_url, destination, other_destinations, title, description, tags, tag_keys, not_started_url,
        expired_url, password, utm, rules, split, preview
    ))::bigint
$$;
CREATE FUNCTION links_tags_after_delete() RETURNS trigger
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM old_rows WHERE tag_keys <> '{}') THEN
        -- An UPDATE rather than an upsert, because the same transaction may delete the owner.
        UPDATE links_tagtotals t SET links = t.links - deleted.links, active_links = t.active_links - deleted.active
        FROM (
            SELECT owner_id, tag, (id % 8)::smallint AS slot, count(*) AS links,
                count(*) FILTER (WHERE is_active) AS active
            FROM old_rows, unnest(tag_keys) tag GROUP BY 1, 2, 3
        ) deleted
        WHERE (t.owner_id, t.tag_key, t.slot) = (deleted.owner_id, deleted.tag, deleted.slot);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_tags_after_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM new_rows WHERE tag_keys <> '{}') THEN
        INSERT INTO links_tagtotals AS t (owner_id, tag_key, slot, links, active_links)
        SELECT owner_id, tag, id % 8, count(*), count(*) FILTER (WHERE is_active)
        FROM new_rows, unnest(tag_keys) tag GROUP BY 1, 2, 3
        ON CONFLICT (owner_id, tag_key, slot) DO UPDATE
            SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION links_tags_after_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_rows WHERE tag_keys <> '{}' UNION ALL SELECT FROM old_rows WHERE tag_keys <> '{}'
    ) THEN
        INSERT INTO links_tagtotals AS t (owner_id, tag_key, slot, links, active_links)
        SELECT owner_id, tag, id % 8, sum(links), sum(active)
        FROM (
            SELECT owner_id, id, unnest(tag_keys) AS tag, 1 AS links, is_active::int AS active FROM new_rows
            UNION ALL SELECT owner_id, id, unnest(tag_keys), -1, -is_active::int FROM old_rows
        ) changed
        GROUP BY 1, 2, 3 HAVING sum(links) <> 0 OR sum(active) <> 0
        ON CONFLICT (owner_id, tag_key, slot) DO UPDATE
            SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_after_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO qrcodes_deletedqrcode (link_id, code)
    SELECT OLD.link_id, to_jsonb(OLD) WHERE EXISTS (SELECT FROM links_deletedlink WHERE link_id = OLD.link_id);
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_after_final_deletion() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM links_link WHERE id = OLD.link_id) THEN
        INSERT INTO qrcodes_qrcode (
            id, public_id, token, link_id, owner_id, digest, content, size, format, level, foreground, background,
            margin, style, logo, created_at
        )
        SELECT c.id, c.public_id, c.token, c.link_id, c.owner_id, c.digest, c.content, c.size, c.format, c.level,
            c.foreground, c.background, c.margin, c.style, c.logo, c.created_at
        FROM qrcodes_deletedqrcode d, jsonb_populate_record(NULL::qrcodes_qrcode, d.code) c
        WHERE d.link_id = OLD.link_id;
    END IF;
    DELETE FROM qrcodes_deletedqrcode WHERE link_id = OLD.link_id;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_after_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    near bigint[] := links_lock_storage(ARRAY(SELECT DISTINCT owner_id FROM new_rows));
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
    SELECT owner_id, link_id % 8, 0, 0, 0, sum(qrcodes_size(content, logo)) FROM new_rows GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
    PERFORM links_check_storage(owner) FROM unnest(near) owner;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_after_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    near bigint[] := links_lock_storage(ARRAY(SELECT owner_id FROM new_rows EXCEPT SELECT owner_id FROM old_rows));
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks, bytes)
    SELECT owner_id, slot, 0, 0, 0, sum(size)
    FROM (
        SELECT owner_id, (link_id % 8)::smallint AS slot, qrcodes_size(content, logo) AS size FROM new_rows
        UNION ALL SELECT owner_id, (link_id % 8)::smallint, -qrcodes_size(content, logo) FROM old_rows
    ) changed
    GROUP BY 1, 2 HAVING sum(size) <> 0 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET bytes = t.bytes + EXCLUDED.bytes;
    PERFORM links_check_storage(owner) FROM unnest(near) owner;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_bytes_after_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- An UPDATE, because the same transaction may delete the owner. In the order in which others lock the slots.
    WITH deleted AS (
        SELECT owner_id, (link_id % 8)::smallint AS slot, sum(qrcodes_size(content, logo)) AS bytes
        FROM old_rows GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN deleted USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET bytes = t.bytes - deleted.bytes
    FROM deleted JOIN locked USING (owner_id, slot) WHERE t.owner_id = deleted.owner_id AND t.slot = deleted.slot;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_deleted_after_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    code qrcodes_qrcode := jsonb_populate_record(NULL::qrcodes_qrcode, CASE TG_OP WHEN 'INSERT' THEN NEW.code ELSE OLD.code END);
BEGIN
    UPDATE links_ownertotals SET bytes = bytes
        + CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END * qrcodes_size(code.content, code.logo)
    WHERE owner_id = code.owner_id AND slot = code.link_id % 8;
    RETURN NULL;
END $$;
CREATE FUNCTION qrcodes_size(content text, logo bytea) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT 300 + octet_length(content) + coalesce(octet_length(logo), 0)::bigint
$$;
CREATE TABLE account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id bigint NOT NULL
);
ALTER TABLE account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);
ALTER TABLE account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_apikey (
    user_id bigint NOT NULL,
    digest bytea NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    read_at timestamp with time zone
);
COMMENT ON TABLE accounts_apikey IS 'The API key of each account.';
COMMENT ON COLUMN accounts_apikey.user_id IS 'The account. It has one key.';
COMMENT ON COLUMN accounts_apikey.digest IS 'SHA-256 digest, for lookup.';
COMMENT ON COLUMN accounts_apikey.sealed IS 'The key, encrypted for its owner.';
COMMENT ON COLUMN accounts_apikey.created_at IS 'Creation time.';
COMMENT ON COLUMN accounts_apikey.read_at IS 'When its owner first read it. Null: not yet.';
CREATE TABLE accounts_change (
    id bigint NOT NULL,
    public_id uuid DEFAULT gen_random_uuid() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    via character varying(10) NOT NULL,
    key_id uuid,
    request_id character varying(64) NOT NULL,
    object_id uuid NOT NULL,
    action character varying(40) NOT NULL,
    before jsonb NOT NULL,
    after jsonb NOT NULL,
    actor_id bigint,
    owner_id bigint NOT NULL
);
COMMENT ON TABLE accounts_change IS 'Who changed what: one row for each change.';
COMMENT ON COLUMN accounts_change.id IS 'Internal key.';
COMMENT ON COLUMN accounts_change.public_id IS 'API id.';
COMMENT ON COLUMN accounts_change.changed_at IS 'Time of the change.';
COMMENT ON COLUMN accounts_change.via IS 'api_key, token, operator (in the admin), page (under /accounts/) or service.';
COMMENT ON COLUMN accounts_change.key_id IS 'API id of the key with scopes that the actor used; it may be deleted.';
COMMENT ON COLUMN accounts_change.request_id IS 'X-Request-ID; empty without a request.';
COMMENT ON COLUMN accounts_change.object_id IS 'API id of the changed object; it may be deleted.';
COMMENT ON COLUMN accounts_change.action IS 'Kind of object and of change: link.updated.';
COMMENT ON COLUMN accounts_change.before IS 'Former values of the changed fields.';
COMMENT ON COLUMN accounts_change.after IS 'New values of the changed fields.';
COMMENT ON COLUMN accounts_change.actor_id IS 'The account that made the change; it may be deleted. Null: the service.';
COMMENT ON COLUMN accounts_change.owner_id IS 'Owner of the changed object.';
ALTER TABLE accounts_change ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_historysize (
    owner_id bigint NOT NULL,
    bytes bigint NOT NULL,
    counted_to bigint NOT NULL
);
COMMENT ON TABLE accounts_historysize IS 'About the size of the history of each workspace, for housekeeping.';
COMMENT ON COLUMN accounts_historysize.owner_id IS 'The workspace.';
COMMENT ON COLUMN accounts_historysize.bytes IS 'At least the bytes of its changes up to counted_to.';
COMMENT ON COLUMN accounts_historysize.counted_to IS 'The last change that was added to bytes.';
CREATE TABLE accounts_invitation (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    role character varying(10) NOT NULL,
    email character varying(254) NOT NULL,
    digest bytea NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    expires_at timestamp with time zone DEFAULT (statement_timestamp() + '7 days'::interval) NOT NULL,
    invited_by_id bigint NOT NULL,
    workspace_id bigint NOT NULL
);
COMMENT ON TABLE accounts_invitation IS 'Pending invitations to workspaces.';
COMMENT ON COLUMN accounts_invitation.id IS 'Internal key.';
COMMENT ON COLUMN accounts_invitation.public_id IS 'API id.';
COMMENT ON COLUMN accounts_invitation.role IS 'The role of whoever accepts it.';
COMMENT ON COLUMN accounts_invitation.email IS 'The account that may accept it, in lower case. Empty: any.';
COMMENT ON COLUMN accounts_invitation.digest IS 'SHA-256 digest of the token.';
COMMENT ON COLUMN accounts_invitation.created_at IS 'Creation time.';
COMMENT ON COLUMN accounts_invitation.expires_at IS 'When the token expires.';
COMMENT ON COLUMN accounts_invitation.invited_by_id IS 'The member who invited.';
COMMENT ON COLUMN accounts_invitation.workspace_id IS 'The workspace.';
ALTER TABLE accounts_invitation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_invitation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_member (
    role character varying(10) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    user_id bigint NOT NULL,
    workspace_id bigint NOT NULL
);
COMMENT ON TABLE accounts_member IS 'Members of workspaces and their roles.';
COMMENT ON COLUMN accounts_member.role IS 'viewer, editor, admin or owner.';
COMMENT ON COLUMN accounts_member.created_at IS 'When the account joined.';
COMMENT ON COLUMN accounts_member.user_id IS 'The account.';
COMMENT ON COLUMN accounts_member.workspace_id IS 'The workspace.';
CREATE TABLE accounts_passkeyhandle (
    user_id bigint NOT NULL,
    handle bytea NOT NULL
);
COMMENT ON TABLE accounts_passkeyhandle IS 'User handles of passkeys.';
COMMENT ON COLUMN accounts_passkeyhandle.user_id IS 'The account.';
COMMENT ON COLUMN accounts_passkeyhandle.handle IS 'Random. Reveals nothing about the account.';
ALTER TABLE accounts_scopedkey ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_scopedkey_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_session (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    password_fingerprint character varying(32) NOT NULL,
    generation integer NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    rotated_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    last_used_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    user_agent character varying(200) NOT NULL,
    browser_session character varying(40),
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason character varying(10),
    user_id bigint NOT NULL,
    confirmed_at timestamp with time zone
);
COMMENT ON TABLE accounts_session IS 'Sessions of the API. Those of browsers are in django_session.';
COMMENT ON COLUMN accounts_session.id IS 'Internal key.';
COMMENT ON COLUMN accounts_session.public_id IS 'Id in tokens and in the API.';
COMMENT ON COLUMN accounts_session.password_fingerprint IS 'Digest of the password hash under which its tokens are valid.';
COMMENT ON COLUMN accounts_session.generation IS 'Number of the current tokens. Each refresh adds 1.';
COMMENT ON COLUMN accounts_session.issued_at IS 'When the current tokens were issued, by the clock of the host that issued them.';
COMMENT ON COLUMN accounts_session.rotated_at IS 'The same by the clock of the database, for the grace period.';
COMMENT ON COLUMN accounts_session.created_at IS 'Time of the login.';
COMMENT ON COLUMN accounts_session.last_used_at IS 'Last use, exact to a minute.';
COMMENT ON COLUMN accounts_session.user_agent IS 'User-Agent of the login, shortened.';
COMMENT ON COLUMN accounts_session.browser_session IS 'The django_session of the browser that it belongs to; null: it began with a login to the API.';
COMMENT ON COLUMN accounts_session.expires_at IS 'When its refresh tokens expire.';
COMMENT ON COLUMN accounts_session.ended_at IS 'When it ended early. No token works since.';
COMMENT ON COLUMN accounts_session.end_reason IS 'logout, revoked, password, reuse or limit.';
COMMENT ON COLUMN accounts_session.user_id IS 'The account.';
COMMENT ON COLUMN accounts_session.confirmed_at IS 'When the user of a browser last logged in or confirmed it again. Null: at the login.';
ALTER TABLE accounts_session ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_session_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_storagelimit (
    plan character varying(10) NOT NULL,
    bytes bigint NOT NULL
);
COMMENT ON TABLE accounts_storagelimit IS 'STORAGE_MB_* of the host that started last, for triggers. No row: no limit.';
COMMENT ON COLUMN accounts_storagelimit.plan IS 'free, pro or enterprise.';
COMMENT ON COLUMN accounts_storagelimit.bytes IS 'Stored bytes that the plan allows.';
CREATE TABLE accounts_storedresponse (
    id bigint NOT NULL,
    key_digest bytea NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    owner_id bigint NOT NULL
);
COMMENT ON TABLE accounts_storedresponse IS 'Stored responses to requests with an Idempotency-Key.';
COMMENT ON COLUMN accounts_storedresponse.id IS 'Internal key.';
COMMENT ON COLUMN accounts_storedresponse.key_digest IS 'Digest of the Idempotency-Key.';
COMMENT ON COLUMN accounts_storedresponse.sealed IS 'The response, encrypted.';
COMMENT ON COLUMN accounts_storedresponse.created_at IS 'When the request was committed.';
COMMENT ON COLUMN accounts_storedresponse.owner_id IS 'The account that sent the request.';
ALTER TABLE accounts_storedresponse ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_storedresponse_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_user_groups (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    group_id integer NOT NULL
);
COMMENT ON TABLE accounts_user_groups IS 'Groups of accounts with permissions in the admin.';
COMMENT ON COLUMN accounts_user_groups.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_groups.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_groups.group_id IS 'The group.';
ALTER TABLE accounts_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE accounts_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_user_user_permissions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    permission_id integer NOT NULL
);
COMMENT ON TABLE accounts_user_user_permissions IS 'Permissions of accounts in the admin.';
COMMENT ON COLUMN accounts_user_user_permissions.id IS 'Internal key.';
COMMENT ON COLUMN accounts_user_user_permissions.user_id IS 'The account.';
COMMENT ON COLUMN accounts_user_user_permissions.permission_id IS 'The permission.';
ALTER TABLE accounts_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME accounts_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE accounts_workspace (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    name character varying(100) NOT NULL,
    plan character varying(10),
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    account_id bigint,
    CONSTRAINT workspace_personal_or_team CHECK ((((account_id = id) AND (account_id IS NOT NULL) AND (plan IS NULL)) OR ((account_id IS NULL) AND (plan IS NOT NULL))))
);
COMMENT ON TABLE accounts_workspace IS 'Workspaces: the owners of links, domains and QR codes.';
COMMENT ON COLUMN accounts_workspace.id IS 'Internal key, from the sequence of the accounts.';
COMMENT ON COLUMN accounts_workspace.public_id IS 'API id.';
COMMENT ON COLUMN accounts_workspace.name IS 'For people.';
COMMENT ON COLUMN accounts_workspace.plan IS 'free, pro or enterprise. Null: a personal workspace has the plan of its account.';
COMMENT ON COLUMN accounts_workspace.created_at IS 'Creation time.';
COMMENT ON COLUMN accounts_workspace.account_id IS 'The account of a personal workspace. Null: a team''s workspace.';
CREATE TABLE analytics_busydaycount (
    link_id bigint CONSTRAINT analytics_daycount_link_id_not_null NOT NULL,
    dimension smallint CONSTRAINT analytics_daycount_dimension_not_null NOT NULL,
    slot smallint DEFAULT 0 CONSTRAINT analytics_daycount_slot_not_null NOT NULL,
    day date CONSTRAINT analytics_daycount_day_not_null NOT NULL,
    value text CONSTRAINT analytics_daycount_value_not_null NOT NULL COLLATE pg_catalog."C",
    clicks bigint CONSTRAINT analytics_daycount_clicks_not_null NOT NULL
)
WITH (fillfactor='70', parallel_workers='0');
COMMENT ON TABLE analytics_busydaycount IS 'Clicks by value on days with many values, and other requests. See the view analytics_daycount.';
COMMENT ON COLUMN analytics_busydaycount.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_busydaycount.dimension IS '1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.';
COMMENT ON COLUMN analytics_busydaycount.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_busydaycount.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_busydaycount.value IS 'Value of the dimension.';
COMMENT ON COLUMN analytics_busydaycount.clicks IS 'Clicks, or other requests for outcome.';
CREATE TABLE analytics_busymonth (
    link_id bigint NOT NULL,
    month date NOT NULL
);
COMMENT ON TABLE analytics_busymonth IS 'Months of links with many clicks, which analytics_monthcount includes.';
COMMENT ON COLUMN analytics_busymonth.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_busymonth.month IS 'First day of the month (UTC).';
CREATE SEQUENCE analytics_clicktext_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
    CYCLE;
CREATE TABLE analytics_clicktext (
    week integer NOT NULL,
    number integer DEFAULT nextval('analytics_clicktext_number_seq'::regclass) NOT NULL,
    text text NOT NULL
)
WITH (parallel_workers='0');
COMMENT ON TABLE analytics_clicktext IS 'Texts of clicks, by week.';
COMMENT ON COLUMN analytics_clicktext.week IS 'Week since 1970-01-01 (UTC): its minute divided by 10080.';
COMMENT ON COLUMN analytics_clicktext.number IS 'Number that clicks of this week refer to.';
COMMENT ON COLUMN analytics_clicktext.text IS 'The text.';
CREATE SEQUENCE analytics_rawclick_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE analytics_rawclick (
    id bigint DEFAULT nextval('analytics_rawclick_id_seq'::regclass) NOT NULL,
    link_id bigint NOT NULL,
    minute integer NOT NULL,
    microsecond integer NOT NULL,
    client integer NOT NULL,
    place integer NOT NULL,
    referrer integer NOT NULL,
    reason integer NOT NULL,
    branch integer NOT NULL,
    kind smallint NOT NULL,
    scanned boolean NOT NULL,
    is_unique boolean NOT NULL
)
PARTITION BY RANGE (minute);
COMMENT ON TABLE analytics_rawclick IS 'Requests for links. See the view analytics_readable_click.';
COMMENT ON COLUMN analytics_rawclick.id IS 'Internal key.';
COMMENT ON COLUMN analytics_rawclick.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_rawclick.minute IS 'Minute since 1970 (UTC) in which the request was answered.';
COMMENT ON COLUMN analytics_rawclick.microsecond IS 'Microsecond of the minute.';
COMMENT ON COLUMN analytics_rawclick.client IS 'Text: device, operating system and browser, with tabs between.';
COMMENT ON COLUMN analytics_rawclick.place IS 'Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown.';
COMMENT ON COLUMN analytics_rawclick.referrer IS 'Text: URL without query and fragment, or unknown. 0 for a direct visit.';
COMMENT ON COLUMN analytics_rawclick.reason IS 'Text: reason for a refusal, otherwise 0.';
COMMENT ON COLUMN analytics_rawclick.branch IS 'Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself.';
COMMENT ON COLUMN analytics_rawclick.kind IS '0 click, 1 head, 2 prefetch, 3 crawler, 4 refused.';
COMMENT ON COLUMN analytics_rawclick.scanned IS 'Whether a QR code led to it.';
COMMENT ON COLUMN analytics_rawclick.is_unique IS 'The visitor''s first click that day. Recorded for branches only.';
CREATE VIEW analytics_click AS
 SELECT r.id,
    ((to_timestamp((0)::double precision) + ((r.minute)::double precision * '00:01:00'::interval)) + ((r.microsecond)::double precision * '00:00:00.000001'::interval)) AS "time",
    r.link_id,
    r.kind,
    COALESCE(reason.text, ''::text) AS reason,
    split_part(place.text, ' '::text, 1) AS country,
    substr(place.text, (strpos(place.text, ' '::text) + 1)) AS city,
    split_part(client.text, '	'::text, 1) AS device,
    substr(client.text, ((length(split_part(client.text, '	'::text, 1)) + length(split_part(client.text, '	'::text, 2))) + 3)) AS browser,
    split_part(client.text, '	'::text, 2) AS operating_system,
    COALESCE(referrer.text, ''::text) AS referrer,
    r.scanned,
        CASE
            WHEN (r.branch <> 0) THEN (branch.text)::uuid
            ELSE NULL::uuid
        END AS branch,
    r.is_unique,
    r.minute
   FROM (((((analytics_rawclick r
     LEFT JOIN analytics_clicktext client ON (((client.week = (r.minute / 10080)) AND (client.number = r.client))))
     LEFT JOIN analytics_clicktext place ON (((place.week = (r.minute / 10080)) AND (place.number = r.place))))
     LEFT JOIN analytics_clicktext referrer ON (((referrer.week = (r.minute / 10080)) AND (referrer.number = r.referrer))))
     LEFT JOIN analytics_clicktext reason ON (((reason.week = (r.minute / 10080)) AND (reason.number = r.reason))))
     LEFT JOIN analytics_clicktext branch ON (((branch.week = (r.minute / 10080)) AND (branch.number = r.branch))));
COMMENT ON VIEW analytics_click IS 'Requests for links with their texts. See the view analytics_readable_click.';
CREATE TABLE analytics_closedday (
    day date NOT NULL
);
COMMENT ON TABLE analytics_closedday IS 'One row: the last day that analytics_lifecount and analytics_monthcount include.';
COMMENT ON COLUMN analytics_closedday.day IS 'Day (UTC).';
CREATE TABLE analytics_daytotal (
    link_id bigint CONSTRAINT analytics_daytotal_link_id_not_null1 NOT NULL,
    day date CONSTRAINT analytics_daytotal_day_not_null1 NOT NULL,
    slot smallint DEFAULT 0 CONSTRAINT analytics_daytotal_slot_not_null1 NOT NULL,
    quarter smallint DEFAULT 0 NOT NULL,
    clicks integer CONSTRAINT analytics_daytotal_clicks_not_null1 NOT NULL,
    unique_clicks integer CONSTRAINT analytics_daytotal_unique_clicks_not_null1 NOT NULL,
    counts text COLLATE pg_catalog."C",
    quarters integer[]
)
WITH (fillfactor='90', parallel_workers='0');
COMMENT ON TABLE analytics_daytotal IS 'Clicks of each link and day (UTC). Add up the slots.';
COMMENT ON COLUMN analytics_daytotal.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_daytotal.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_daytotal.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_daytotal.quarter IS 'Quarter of an hour of the day, from 0 to 95, if quarters is null.';
COMMENT ON COLUMN analytics_daytotal.clicks IS 'Clicks.';
COMMENT ON COLUMN analytics_daytotal.unique_clicks IS 'First clicks of visitors that day.';
COMMENT ON COLUMN analytics_daytotal.counts IS 'Clicks by value, see the view analytics_daycount. Null: rows in analytics_busydaycount.';
COMMENT ON COLUMN analytics_daytotal.quarters IS 'Number, clicks and unique clicks of each quarter of an hour, if there are several.';
CREATE VIEW analytics_daycount AS
 SELECT analytics_daytotal.link_id,
    c.dimension,
    analytics_daytotal.slot,
    analytics_daytotal.day,
    (c.value COLLATE "C") AS value,
    c.clicks
   FROM analytics_daytotal,
    LATERAL analytics_unpacked(analytics_daytotal.counts) c(dimension, value, clicks)
UNION ALL
 SELECT analytics_busydaycount.link_id,
    analytics_busydaycount.dimension,
    analytics_busydaycount.slot,
    analytics_busydaycount.day,
    analytics_busydaycount.value,
    analytics_busydaycount.clicks
   FROM analytics_busydaycount;
COMMENT ON VIEW analytics_daycount IS 'Clicks by link, day and value. See the view analytics_readable_daycount.';
CREATE TABLE analytics_daysalt (
    day date NOT NULL,
    salt bytea NOT NULL
);
COMMENT ON TABLE analytics_daysalt IS 'Keys of the visitor hashes, deleted after two days.';
COMMENT ON COLUMN analytics_daysalt.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_daysalt.salt IS 'Key of the day''s hashes.';
CREATE TABLE analytics_deadletter (
    id bigint NOT NULL,
    record bytea NOT NULL,
    reason text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);
COMMENT ON TABLE analytics_deadletter IS 'Click records that cannot be counted.';
COMMENT ON COLUMN analytics_deadletter.id IS 'Internal key.';
COMMENT ON COLUMN analytics_deadletter.record IS 'The record, encrypted.';
COMMENT ON COLUMN analytics_deadletter.reason IS 'Why it cannot be counted.';
COMMENT ON COLUMN analytics_deadletter.created_at IS 'Creation time.';
ALTER TABLE analytics_deadletter ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME analytics_deadletter_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE analytics_deletedlink (
    link_id bigint NOT NULL
);
COMMENT ON TABLE analytics_deletedlink IS 'Deleted links whose clicks housekeeping will delete.';
COMMENT ON COLUMN analytics_deletedlink.link_id IS 'The deleted link.';
CREATE TABLE analytics_hostclock (
    host text NOT NULL,
    day date NOT NULL,
    report bigint NOT NULL
);
COMMENT ON TABLE analytics_hostclock IS 'Dates of the hosts'' clocks. A day is closed once all of them confirm that it is over.';
COMMENT ON COLUMN analytics_hostclock.host IS 'Name of the host, and its VAR_DIR.';
COMMENT ON COLUMN analytics_hostclock.day IS 'Date of its clock (UTC).';
COMMENT ON COLUMN analytics_hostclock.report IS 'Number of the report, counted over all hosts.';
CREATE TABLE analytics_journalloss (
    segment_id uuid NOT NULL,
    start bigint NOT NULL,
    "end" bigint NOT NULL,
    size bigint NOT NULL,
    found_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);
COMMENT ON TABLE analytics_journalloss IS 'Parts of the journal that were emptied before this database counted them.';
COMMENT ON COLUMN analytics_journalloss.segment_id IS 'Name of the segment''s file.';
COMMENT ON COLUMN analytics_journalloss.start IS 'First byte.';
COMMENT ON COLUMN analytics_journalloss."end" IS 'Byte after the last one.';
COMMENT ON COLUMN analytics_journalloss.size IS 'Bytes without any counted copy.';
COMMENT ON COLUMN analytics_journalloss.found_at IS 'When the loss was found.';
CREATE TABLE analytics_lifecount (
    link_id bigint NOT NULL,
    dimension smallint NOT NULL,
    slot smallint DEFAULT 0 NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    clicks bigint NOT NULL
)
WITH (fillfactor='70');
COMMENT ON TABLE analytics_lifecount IS 'DayCount of all closed days. See the view analytics_readable_lifecount.';
COMMENT ON COLUMN analytics_lifecount.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_lifecount.dimension IS '1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.';
COMMENT ON COLUMN analytics_lifecount.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_lifecount.value IS 'Value of the dimension.';
COMMENT ON COLUMN analytics_lifecount.clicks IS 'Clicks, or other requests for outcome.';
CREATE TABLE analytics_monthcount (
    link_id bigint NOT NULL,
    dimension smallint NOT NULL,
    slot smallint DEFAULT 0 NOT NULL,
    month date NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    clicks bigint NOT NULL
)
WITH (parallel_workers='0');
COMMENT ON TABLE analytics_monthcount IS 'DayCount of closed days by busy month. See the view analytics_readable_monthcount.';
COMMENT ON COLUMN analytics_monthcount.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_monthcount.dimension IS '1 country, 2 city, 3 client, 4 referrer, 5 outcome, 6 source, 7 branch, 8 unique_branch.';
COMMENT ON COLUMN analytics_monthcount.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_monthcount.month IS 'First day of the month (UTC).';
COMMENT ON COLUMN analytics_monthcount.value IS 'Value of the dimension.';
COMMENT ON COLUMN analytics_monthcount.clicks IS 'Clicks.';
CREATE TABLE analytics_pendingrecord (
    id bigint NOT NULL,
    record bytea NOT NULL
);
COMMENT ON TABLE analytics_pendingrecord IS 'Click records that wait in the database instead of a journal.';
COMMENT ON COLUMN analytics_pendingrecord.id IS 'Order of arrival.';
COMMENT ON COLUMN analytics_pendingrecord.record IS 'The record, encrypted.';
ALTER TABLE analytics_pendingrecord ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME analytics_pendingrecord_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW analytics_quartertotal AS
 SELECT analytics_daytotal.link_id,
    analytics_daytotal.day,
    ((analytics_daytotal.day + ((analytics_daytotal.quarter)::double precision * '00:15:00'::interval)) AT TIME ZONE 'UTC'::text) AS start,
    analytics_daytotal.slot,
    analytics_daytotal.clicks,
    analytics_daytotal.unique_clicks
   FROM analytics_daytotal
  WHERE (analytics_daytotal.quarters IS NULL)
UNION ALL
 SELECT analytics_daytotal.link_id,
    analytics_daytotal.day,
    ((analytics_daytotal.day + ((analytics_daytotal.quarters[place.place])::double precision * '00:15:00'::interval)) AT TIME ZONE 'UTC'::text) AS start,
    analytics_daytotal.slot,
    analytics_daytotal.quarters[(place.place + 1)] AS clicks,
    analytics_daytotal.quarters[(place.place + 2)] AS unique_clicks
   FROM analytics_daytotal,
    LATERAL generate_series(1, cardinality(analytics_daytotal.quarters), 3) place(place)
  WHERE (analytics_daytotal.quarters IS NOT NULL);
COMMENT ON VIEW analytics_quartertotal IS 'Clicks of each link and quarter of an hour. Add up the slots.';
CREATE TABLE analytics_rawclick_default (
    id bigint DEFAULT nextval('analytics_rawclick_id_seq'::regclass) CONSTRAINT analytics_rawclick_id_not_null NOT NULL,
    link_id bigint CONSTRAINT analytics_rawclick_link_id_not_null NOT NULL,
    minute integer CONSTRAINT analytics_rawclick_minute_not_null NOT NULL,
    microsecond integer CONSTRAINT analytics_rawclick_microsecond_not_null NOT NULL,
    client integer CONSTRAINT analytics_rawclick_client_not_null NOT NULL,
    place integer CONSTRAINT analytics_rawclick_place_not_null NOT NULL,
    referrer integer CONSTRAINT analytics_rawclick_referrer_not_null NOT NULL,
    reason integer CONSTRAINT analytics_rawclick_reason_not_null NOT NULL,
    branch integer CONSTRAINT analytics_rawclick_branch_not_null NOT NULL,
    kind smallint CONSTRAINT analytics_rawclick_kind_not_null NOT NULL,
    scanned boolean CONSTRAINT analytics_rawclick_scanned_not_null NOT NULL,
    is_unique boolean CONSTRAINT analytics_rawclick_is_unique_not_null NOT NULL
);
COMMENT ON TABLE analytics_rawclick_default IS 'Clicks of months without a partition.';
CREATE VIEW analytics_readable_click AS
 SELECT id,
    "time",
    link_id,
        CASE kind
            WHEN 0 THEN 'click'::text
            WHEN 1 THEN 'head'::text
            WHEN 2 THEN 'prefetch'::text
            WHEN 3 THEN 'crawler'::text
            WHEN 4 THEN 'refused'::text
            ELSE (kind)::text
        END AS kind,
    reason,
    country,
    city,
    device,
    browser,
    operating_system,
    referrer,
    scanned,
    branch,
    is_unique,
    minute
   FROM analytics_click;
COMMENT ON VIEW analytics_readable_click IS 'analytics_click with the names of kinds.';
CREATE VIEW analytics_readable_daycount AS
 SELECT link_id,
    day,
        CASE dimension
            WHEN 1 THEN 'country'::text
            WHEN 2 THEN 'city'::text
            WHEN 3 THEN 'client'::text
            WHEN 4 THEN 'referrer'::text
            WHEN 5 THEN 'outcome'::text
            WHEN 6 THEN 'source'::text
            WHEN 7 THEN 'branch'::text
            WHEN 8 THEN 'unique_branch'::text
            ELSE (dimension)::text
        END AS dimension,
    replace(value, '	'::text, ', '::text) AS value,
    (sum(clicks))::bigint AS clicks
   FROM analytics_daycount
  GROUP BY link_id, day, dimension, value;
COMMENT ON VIEW analytics_readable_daycount IS 'analytics_daycount with the names of dimensions, all slots added up.';
CREATE VIEW analytics_readable_lifecount AS
 SELECT link_id,
        CASE dimension
            WHEN 1 THEN 'country'::text
            WHEN 2 THEN 'city'::text
            WHEN 3 THEN 'client'::text
            WHEN 4 THEN 'referrer'::text
            WHEN 5 THEN 'outcome'::text
            WHEN 6 THEN 'source'::text
            WHEN 7 THEN 'branch'::text
            WHEN 8 THEN 'unique_branch'::text
            ELSE (dimension)::text
        END AS dimension,
    replace(value, '	'::text, ', '::text) AS value,
    (sum(clicks))::bigint AS clicks
   FROM analytics_lifecount
  GROUP BY link_id, dimension, value;
COMMENT ON VIEW analytics_readable_lifecount IS 'analytics_lifecount with the names of dimensions, all slots added up.';
CREATE VIEW analytics_readable_monthcount AS
 SELECT link_id,
    month,
        CASE dimension
            WHEN 1 THEN 'country'::text
            WHEN 2 THEN 'city'::text
            WHEN 3 THEN 'client'::text
            WHEN 4 THEN 'referrer'::text
            WHEN 5 THEN 'outcome'::text
            WHEN 6 THEN 'source'::text
            WHEN 7 THEN 'branch'::text
            WHEN 8 THEN 'unique_branch'::text
            ELSE (dimension)::text
        END AS dimension,
    replace(value, '	'::text, ', '::text) AS value,
    (sum(clicks))::bigint AS clicks
   FROM analytics_monthcount
  GROUP BY link_id, month, dimension, value;
COMMENT ON VIEW analytics_readable_monthcount IS 'analytics_monthcount with the names of dimensions, all slots added up.';
CREATE TABLE analytics_segment (
    id uuid NOT NULL,
    "offset" bigint DEFAULT 0 NOT NULL,
    finished_at timestamp with time zone
);
COMMENT ON TABLE analytics_segment IS 'Counted bytes of each journal segment.';
COMMENT ON COLUMN analytics_segment.id IS 'Name of the segment''s file.';
COMMENT ON COLUMN analytics_segment."offset" IS 'Bytes counted.';
COMMENT ON COLUMN analytics_segment.finished_at IS 'When it was counted completely.';
CREATE TABLE analytics_unknowncode (
    domain_id bigint NOT NULL,
    day date NOT NULL,
    slot smallint DEFAULT 0 NOT NULL,
    hits bigint NOT NULL
);
COMMENT ON TABLE analytics_unknowncode IS 'Requests for unknown codes, by domain and day (UTC). Add up the slots.';
COMMENT ON COLUMN analytics_unknowncode.domain_id IS 'Domain; 0: the default domain.';
COMMENT ON COLUMN analytics_unknowncode.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_unknowncode.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN analytics_unknowncode.hits IS 'Requests.';
CREATE TABLE analytics_visitorblock (
    link_id bigint NOT NULL,
    first bigint NOT NULL,
    day date NOT NULL,
    is_divided boolean NOT NULL,
    hashes bytea NOT NULL
)
WITH (fillfactor='90');
ALTER TABLE ONLY analytics_visitorblock ALTER COLUMN hashes SET STORAGE EXTERNAL;
COMMENT ON TABLE analytics_visitorblock IS 'Visitors of each link and day (UTC), as blocks of keyed hashes.';
COMMENT ON COLUMN analytics_visitorblock.link_id IS 'Link; it may be deleted.';
COMMENT ON COLUMN analytics_visitorblock.first IS 'The block has the hashes from this number on, up to the first of the next block.';
COMMENT ON COLUMN analytics_visitorblock.day IS 'Day (UTC).';
COMMENT ON COLUMN analytics_visitorblock.is_divided IS 'Whether the link has several blocks that day.';
COMMENT ON COLUMN analytics_visitorblock.hashes IS 'Hashes of 64 bits, little-endian, in any order.';
CREATE TABLE auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);
ALTER TABLE auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);
ALTER TABLE auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE bans_ban (
    id bigint NOT NULL,
    host character varying(255),
    reason character varying(500) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    owner_id bigint,
    CONSTRAINT ban_host_canonical CHECK (((host IS NULL) OR ((host)::text ~ '^(\[[0-9a-f:.]+\]|[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+)$'::text))),
    CONSTRAINT ban_of_host_or_owner CHECK ((((host IS NOT NULL) AND (owner_id IS NULL)) OR ((host IS NULL) AND (owner_id IS NOT NULL))))
);
COMMENT ON TABLE bans_ban IS 'Operators'' bans of destination hosts and of workspaces'' links.';
COMMENT ON COLUMN bans_ban.id IS 'Internal key.';
COMMENT ON COLUMN bans_ban.host IS 'Banned host with its subdomains; null: a ban of a workspace.';
COMMENT ON COLUMN bans_ban.reason IS 'The operator''s note.';
COMMENT ON COLUMN bans_ban.created_at IS 'Creation time.';
COMMENT ON COLUMN bans_ban.owner_id IS 'Workspace whose links are banned; null: a ban of a host.';
ALTER TABLE bans_ban ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME bans_ban_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE django_admin_log (
    id integer NOT NULL,
    action_time timestamp with time zone NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    action_flag smallint NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    user_id bigint NOT NULL,
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0))
);
ALTER TABLE django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);
ALTER TABLE django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL,
    digest text
);
ALTER TABLE django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);
ALTER TABLE domains_domain ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME domains_domain_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE UNLOGGED TABLE limits_attemptlog (
    subject bytea NOT NULL,
    attempts timestamp with time zone[] NOT NULL
);
COMMENT ON TABLE limits_attemptlog IS 'Recent attempts and running calls of each subject. Unlogged.';
COMMENT ON COLUMN limits_attemptlog.subject IS 'Keyed digest of the subject.';
COMMENT ON COLUMN limits_attemptlog.attempts IS 'Their times, oldest first.';
CREATE UNLOGGED TABLE limits_knownnetwork (
    subject bytea NOT NULL,
    until timestamp with time zone NOT NULL
);
COMMENT ON TABLE limits_knownnetwork IS 'Networks from which a secret was entered correctly. Unlogged.';
COMMENT ON COLUMN limits_knownnetwork.subject IS 'Keyed digest of network and secret.';
COMMENT ON COLUMN limits_knownnetwork.until IS 'When the network is forgotten.';
CREATE UNLOGGED TABLE limits_requestcount (
    subject bytea NOT NULL,
    started timestamp with time zone NOT NULL,
    requests integer NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE limits_requestcount IS 'Requests of each subject in its current minute. Unlogged.';
COMMENT ON COLUMN limits_requestcount.subject IS 'Id of an account, or keyed digest of a network.';
COMMENT ON COLUMN limits_requestcount.started IS 'Start of the minute.';
COMMENT ON COLUMN limits_requestcount.requests IS 'Requests since then.';
CREATE TABLE links_clickcounter (
    link_id bigint NOT NULL,
    clicks bigint DEFAULT 0 NOT NULL,
    owner_id bigint NOT NULL,
    imported bigint DEFAULT 0 NOT NULL
);
COMMENT ON TABLE links_clickcounter IS 'Clicks of each link.';
COMMENT ON COLUMN links_clickcounter.link_id IS 'The link.';
COMMENT ON COLUMN links_clickcounter.clicks IS 'All clicks, imported ones included.';
COMMENT ON COLUMN links_clickcounter.owner_id IS 'Owner of the link.';
COMMENT ON COLUMN links_clickcounter.imported IS 'Clicks of imports, part of clicks. Reports contain those that have a day.';
CREATE TABLE links_code (
    id bigint NOT NULL,
    code character varying(255) NOT NULL,
    kind character varying(8) NOT NULL,
    held_until timestamp with time zone,
    domain_id bigint,
    link_id bigint,
    owner_id bigint,
    CONSTRAINT code_held_or_linked CHECK ((((held_until IS NOT NULL) AND ((kind)::text = 'retired'::text) AND (link_id IS NULL)) OR ((NOT ((kind)::text = 'retired'::text)) AND (held_until IS NULL) AND (link_id IS NOT NULL))))
);
COMMENT ON TABLE links_code IS 'Every code that is taken on a domain, for any reason.';
COMMENT ON COLUMN links_code.id IS 'Internal key.';
COMMENT ON COLUMN links_code.code IS 'As in the path of the short URL.';
COMMENT ON COLUMN links_code.kind IS 'Why the code is taken.';
COMMENT ON COLUMN links_code.held_until IS 'When a retired code becomes free.';
COMMENT ON COLUMN links_code.domain_id IS 'Null: the default domain.';
COMMENT ON COLUMN links_code.link_id IS 'Null: retired.';
COMMENT ON COLUMN links_code.owner_id IS 'Former owner of a retired code.';
ALTER TABLE links_code ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME links_code_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE links_createdlinks (
    owner_id bigint NOT NULL,
    month date NOT NULL,
    links integer NOT NULL
);
COMMENT ON TABLE links_createdlinks IS 'Links that each workspace created in a month, for quotas.';
COMMENT ON COLUMN links_createdlinks.owner_id IS 'The workspace.';
COMMENT ON COLUMN links_createdlinks.month IS 'First day of the month (UTC).';
COMMENT ON COLUMN links_createdlinks.links IS 'Links created, deleted ones included.';
CREATE TABLE links_deletedlink (
    link_id bigint NOT NULL,
    public_id uuid NOT NULL,
    deleted_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    link jsonb NOT NULL,
    codes jsonb NOT NULL,
    clicks bigint NOT NULL,
    imported bigint NOT NULL,
    owner_id bigint NOT NULL
);
COMMENT ON TABLE links_deletedlink IS 'Deleted links that can be brought back for some days.';
COMMENT ON COLUMN links_deletedlink.link_id IS 'Internal key of the link.';
COMMENT ON COLUMN links_deletedlink.public_id IS 'API id of the link.';
COMMENT ON COLUMN links_deletedlink.deleted_at IS 'Time of the deletion.';
COMMENT ON COLUMN links_deletedlink.link IS 'The row of links_link.';
COMMENT ON COLUMN links_deletedlink.codes IS 'The rows of links_code: domain_id, code and kind.';
COMMENT ON COLUMN links_deletedlink.clicks IS 'All clicks, imported ones included.';
COMMENT ON COLUMN links_deletedlink.imported IS 'Clicks of imports, part of clicks.';
COMMENT ON COLUMN links_deletedlink.owner_id IS 'Owner of the link.';
ALTER TABLE links_link ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME links_link_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE links_linkban (
    id bigint NOT NULL,
    reason character varying(500) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    link_id bigint NOT NULL
);
COMMENT ON TABLE links_linkban IS 'Operators'' bans of single links.';
COMMENT ON COLUMN links_linkban.id IS 'Internal key.';
COMMENT ON COLUMN links_linkban.reason IS 'The operator''s note.';
COMMENT ON COLUMN links_linkban.created_at IS 'Creation time.';
COMMENT ON COLUMN links_linkban.link_id IS 'The banned link.';
ALTER TABLE links_linkban ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME links_linkban_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE links_ownertotals (
    slot smallint NOT NULL,
    links bigint NOT NULL,
    active_links bigint NOT NULL,
    clicks bigint NOT NULL,
    owner_id bigint NOT NULL,
    changes bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE links_ownertotals IS 'Totals of each owner''s links. Add up the slots.';
COMMENT ON COLUMN links_ownertotals.slot IS 'Spreads concurrent writes.';
COMMENT ON COLUMN links_ownertotals.links IS 'Links; may be negative in one slot.';
COMMENT ON COLUMN links_ownertotals.active_links IS 'Active links, likewise.';
COMMENT ON COLUMN links_ownertotals.clicks IS 'Clicks, likewise.';
COMMENT ON COLUMN links_ownertotals.owner_id IS 'The workspace.';
COMMENT ON COLUMN links_ownertotals.changes IS 'Changes of the rows in links_searchable. Never decreases.';
COMMENT ON COLUMN links_ownertotals.bytes IS 'Stored bytes of links and QR codes, likewise.';
CREATE TABLE links_route (
    id bigint NOT NULL,
    link_id bigint NOT NULL,
    number smallint NOT NULL,
    branch uuid,
    name text NOT NULL,
    url text NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone
);
COMMENT ON TABLE links_route IS 'The URLs to which the branches of links led, with the periods.';
COMMENT ON COLUMN links_route.id IS 'Internal key.';
COMMENT ON COLUMN links_route.link_id IS 'The link.';
COMMENT ON COLUMN links_route.number IS 'Number of the branch within the link; 0: the link itself.';
COMMENT ON COLUMN links_route.branch IS 'API id of the branch. Null for number 0.';
COMMENT ON COLUMN links_route.name IS 'Name of the branch; empty for number 0.';
COMMENT ON COLUMN links_route.url IS 'Canonical form.';
COMMENT ON COLUMN links_route.since IS 'Start of the period.';
COMMENT ON COLUMN links_route.until IS 'End of the period. Null: current.';
ALTER TABLE links_route ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME links_route_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE links_searchable (
    link_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    is_active boolean NOT NULL,
    tag_keys text[] NOT NULL,
    content text NOT NULL,
    domain_id bigint DEFAULT 0 NOT NULL
);
COMMENT ON TABLE links_searchable IS 'A narrow copy of links_link for lists and searches, maintained by triggers.';
COMMENT ON COLUMN links_searchable.link_id IS 'The link.';
COMMENT ON COLUMN links_searchable.owner_id IS 'The owner.';
COMMENT ON COLUMN links_searchable.created_at IS 'Creation time of the link.';
COMMENT ON COLUMN links_searchable.is_active IS 'The owner''s switch.';
COMMENT ON COLUMN links_searchable.tag_keys IS 'Case-folded tags.';
COMMENT ON COLUMN links_searchable.content IS 'Title, URLs and codes in lower case.';
COMMENT ON COLUMN links_searchable.domain_id IS 'The domain. 0: the default domain.';
CREATE TABLE links_tagtotals (
    tag_key text NOT NULL,
    slot smallint NOT NULL,
    links bigint NOT NULL,
    active_links bigint NOT NULL,
    owner_id bigint NOT NULL
)
WITH (fillfactor='70');
COMMENT ON TABLE links_tagtotals IS 'Number of links with each tag of an owner. Sum it over the slots.';
COMMENT ON COLUMN links_tagtotals.tag_key IS 'Case-folded tag.';
COMMENT ON COLUMN links_tagtotals.slot IS 'Identifier of the link, modulo 8.';
COMMENT ON COLUMN links_tagtotals.links IS 'Links with the tag.';
COMMENT ON COLUMN links_tagtotals.active_links IS 'Active links with the tag.';
COMMENT ON COLUMN links_tagtotals.owner_id IS 'Owner of the links.';
CREATE TABLE links_visitorclicks (
    visitor bytea NOT NULL,
    clicks integer NOT NULL,
    link_id bigint NOT NULL
);
COMMENT ON TABLE links_visitorclicks IS 'Clicks that each visitor claimed of links with max_clicks_per_visitor.';
COMMENT ON COLUMN links_visitorclicks.visitor IS 'Keyed hash of the address.';
COMMENT ON COLUMN links_visitorclicks.clicks IS 'Clicks claimed.';
COMMENT ON COLUMN links_visitorclicks.link_id IS 'The link.';
CREATE TABLE links_visitorkey (
    link_id bigint NOT NULL,
    key uuid DEFAULT gen_random_uuid() NOT NULL
);
COMMENT ON TABLE links_visitorkey IS 'Keys of the visitor hashes of links with max_clicks_per_visitor.';
COMMENT ON COLUMN links_visitorkey.link_id IS 'The link.';
COMMENT ON COLUMN links_visitorkey.key IS 'Random key of the link''s hashes.';
CREATE TABLE mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);
ALTER TABLE mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE qrcodes_deletedqrcode (
    id bigint NOT NULL,
    link_id bigint NOT NULL,
    code jsonb NOT NULL
);
COMMENT ON TABLE qrcodes_deletedqrcode IS 'QR codes of deleted links that can be brought back.';
COMMENT ON COLUMN qrcodes_deletedqrcode.id IS 'Internal key.';
COMMENT ON COLUMN qrcodes_deletedqrcode.link_id IS 'The deleted link.';
COMMENT ON COLUMN qrcodes_deletedqrcode.code IS 'The row of qrcodes_qrcode.';
ALTER TABLE qrcodes_deletedqrcode ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME qrcodes_deletedqrcode_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE qrcodes_qrcode (
    id bigint NOT NULL,
    public_id uuid NOT NULL,
    token character varying(22) NOT NULL,
    digest bytea NOT NULL,
    content text NOT NULL,
    size smallint NOT NULL,
    format character varying(4) NOT NULL,
    level character varying(1) NOT NULL,
    foreground character varying(7) NOT NULL,
    background character varying(7) NOT NULL,
    margin smallint NOT NULL,
    style character varying(7) NOT NULL,
    logo bytea,
    has_logo boolean GENERATED ALWAYS AS ((logo IS NOT NULL)) STORED,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    link_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    CONSTRAINT qrcodes_qrcode_margin_check CHECK ((margin >= 0)),
    CONSTRAINT qrcodes_qrcode_size_check CHECK ((size >= 0))
);
COMMENT ON TABLE qrcodes_qrcode IS 'QR codes. Rows never change, because a code may be printed.';
COMMENT ON COLUMN qrcodes_qrcode.id IS 'Internal key.';
COMMENT ON COLUMN qrcodes_qrcode.public_id IS 'API id.';
COMMENT ON COLUMN qrcodes_qrcode.token IS 'Secret part of the image''s URL.';
COMMENT ON COLUMN qrcodes_qrcode.digest IS 'Digest of content and design.';
COMMENT ON COLUMN qrcodes_qrcode.content IS 'The text in the code.';
COMMENT ON COLUMN qrcodes_qrcode.size IS 'Width in pixels.';
COMMENT ON COLUMN qrcodes_qrcode.format IS 'png, svg or jpeg.';
COMMENT ON COLUMN qrcodes_qrcode.level IS 'Error correction: L, M, Q or H.';
COMMENT ON COLUMN qrcodes_qrcode.foreground IS 'Colour, #RRGGBB.';
COMMENT ON COLUMN qrcodes_qrcode.background IS 'Colour, #RRGGBB.';
COMMENT ON COLUMN qrcodes_qrcode.margin IS 'Quiet zone, in modules.';
COMMENT ON COLUMN qrcodes_qrcode.style IS 'square, rounded or dots.';
COMMENT ON COLUMN qrcodes_qrcode.logo IS 'Image file; null: none.';
COMMENT ON COLUMN qrcodes_qrcode.has_logo IS 'Whether there is a logo.';
COMMENT ON COLUMN qrcodes_qrcode.created_at IS 'Creation time.';
COMMENT ON COLUMN qrcodes_qrcode.link_id IS 'The link.';
COMMENT ON COLUMN qrcodes_qrcode.owner_id IS 'Owner of the link.';
ALTER TABLE qrcodes_qrcode ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME qrcodes_qrcode_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE socialaccount_socialaccount (
    id integer NOT NULL,
    provider character varying(200) NOT NULL,
    uid character varying(191) NOT NULL,
    last_login timestamp with time zone NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    extra_data jsonb NOT NULL,
    user_id bigint NOT NULL
);
ALTER TABLE socialaccount_socialaccount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME socialaccount_socialaccount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE socialaccount_socialapp (
    id integer NOT NULL,
    provider character varying(30) NOT NULL,
    name character varying(40) NOT NULL,
    client_id character varying(191) NOT NULL,
    secret character varying(191) NOT NULL,
    key character varying(191) NOT NULL,
    provider_id character varying(200) NOT NULL,
    settings jsonb NOT NULL
);
ALTER TABLE socialaccount_socialapp ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME socialaccount_socialapp_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE socialaccount_socialtoken (
    id integer NOT NULL,
    token text NOT NULL,
    token_secret text NOT NULL,
    expires_at timestamp with time zone,
    account_id integer NOT NULL,
    app_id integer
);
ALTER TABLE socialaccount_socialtoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME socialaccount_socialtoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY analytics_rawclick ATTACH PARTITION analytics_rawclick_default DEFAULT;
INSERT INTO analytics_closedday VALUES
	('1970-01-01');
INSERT INTO auth_permission VALUES
	(1, 'Can add log entry', 1, 'add_logentry'),
	(2, 'Can change log entry', 1, 'change_logentry'),
	(3, 'Can delete log entry', 1, 'delete_logentry'),
	(4, 'Can view log entry', 1, 'view_logentry'),
	(5, 'Can add permission', 2, 'add_permission'),
	(6, 'Can change permission', 2, 'change_permission'),
	(7, 'Can delete permission', 2, 'delete_permission'),
	(8, 'Can view permission', 2, 'view_permission'),
	(9, 'Can add group', 3, 'add_group'),
	(10, 'Can change group', 3, 'change_group'),
	(11, 'Can delete group', 3, 'delete_group'),
	(12, 'Can view group', 3, 'view_group'),
	(13, 'Can add content type', 4, 'add_contenttype'),
	(14, 'Can change content type', 4, 'change_contenttype'),
	(15, 'Can delete content type', 4, 'delete_contenttype'),
	(16, 'Can view content type', 4, 'view_contenttype'),
	(17, 'Can add session', 5, 'add_session'),
	(18, 'Can change session', 5, 'change_session'),
	(19, 'Can delete session', 5, 'delete_session'),
	(20, 'Can view session', 5, 'view_session'),
	(21, 'Can add email address', 6, 'add_emailaddress'),
	(22, 'Can change email address', 6, 'change_emailaddress'),
	(23, 'Can delete email address', 6, 'delete_emailaddress'),
	(24, 'Can view email address', 6, 'view_emailaddress'),
	(25, 'Can add email confirmation', 7, 'add_emailconfirmation'),
	(26, 'Can change email confirmation', 7, 'change_emailconfirmation'),
	(27, 'Can delete email confirmation', 7, 'delete_emailconfirmation'),
	(28, 'Can view email confirmation', 7, 'view_emailconfirmation'),
	(29, 'Can add authenticator', 8, 'add_authenticator'),
	(30, 'Can change authenticator', 8, 'change_authenticator'),
	(31, 'Can delete authenticator', 8, 'delete_authenticator'),
	(32, 'Can view authenticator', 8, 'view_authenticator'),
	(33, 'Can add social account', 9, 'add_socialaccount'),
	(34, 'Can change social account', 9, 'change_socialaccount'),
	(35, 'Can delete social account', 9, 'delete_socialaccount'),
	(36, 'Can view social account', 9, 'view_socialaccount'),
	(37, 'Can add social application', 10, 'add_socialapp'),
	(38, 'Can change social application', 10, 'change_socialapp'),
	(39, 'Can delete social application', 10, 'delete_socialapp'),
	(40, 'Can view social application', 10, 'view_socialapp'),
	(41, 'Can add social application token', 11, 'add_socialtoken'),
	(42, 'Can change social application token', 11, 'change_socialtoken'),
	(43, 'Can delete social application token', 11, 'delete_socialtoken'),
	(44, 'Can view social application token', 11, 'view_socialtoken'),
	(45, 'Can add attempt log', 12, 'add_attemptlog'),
	(46, 'Can change attempt log', 12, 'change_attemptlog'),
	(47, 'Can delete attempt log', 12, 'delete_attemptlog'),
	(48, 'Can view attempt log', 12, 'view_attemptlog'),
	(49, 'Can add request count', 13, 'add_requestcount'),
	(50, 'Can change request count', 13, 'change_requestcount'),
	(51, 'Can delete request count', 13, 'delete_requestcount'),
	(52, 'Can view request count', 13, 'view_requestcount'),
	(53, 'Can add known network', 14, 'add_knownnetwork'),
	(54, 'Can change known network', 14, 'change_knownnetwork'),
	(55, 'Can delete known network', 14, 'delete_knownnetwork'),
	(56, 'Can view known network', 14, 'view_knownnetwork'),
	(57, 'Can add user', 15, 'add_user'),
	(58, 'Can change user', 15, 'change_user'),
	(59, 'Can delete user', 15, 'delete_user'),
	(60, 'Can view user', 15, 'view_user'),
	(61, 'Can add api key', 16, 'add_apikey'),
	(62, 'Can change api key', 16, 'change_apikey'),
	(63, 'Can delete api key', 16, 'delete_apikey'),
	(64, 'Can view api key', 16, 'view_apikey'),
	(65, 'Can add session', 17, 'add_session'),
	(66, 'Can change session', 17, 'change_session'),
	(67, 'Can delete session', 17, 'delete_session'),
	(68, 'Can view session', 17, 'view_session'),
	(69, 'Can add stored response', 18, 'add_storedresponse'),
	(70, 'Can change stored response', 18, 'change_storedresponse'),
	(71, 'Can delete stored response', 18, 'delete_storedresponse'),
	(72, 'Can view stored response', 18, 'view_storedresponse'),
	(73, 'Can add change', 19, 'add_change'),
	(74, 'Can change change', 19, 'change_change'),
	(75, 'Can delete change', 19, 'delete_change'),
	(76, 'Can view change', 19, 'view_change'),
	(77, 'Can add workspace', 20, 'add_workspace'),
	(78, 'Can change workspace', 20, 'change_workspace'),
	(79, 'Can delete workspace', 20, 'delete_workspace'),
	(80, 'Can view workspace', 20, 'view_workspace'),
	(81, 'Can add member', 21, 'add_member'),
	(82, 'Can change member', 21, 'change_member'),
	(83, 'Can delete member', 21, 'delete_member'),
	(84, 'Can view member', 21, 'view_member'),
	(85, 'Can add invitation', 22, 'add_invitation'),
	(86, 'Can change invitation', 22, 'change_invitation'),
	(87, 'Can delete invitation', 22, 'delete_invitation'),
	(88, 'Can view invitation', 22, 'view_invitation'),
	(89, 'Can add scoped key', 23, 'add_scopedkey'),
	(90, 'Can change scoped key', 23, 'change_scopedkey'),
	(91, 'Can delete scoped key', 23, 'delete_scopedkey'),
	(92, 'Can view scoped key', 23, 'view_scopedkey'),
	(93, 'Can add passkey handle', 24, 'add_passkeyhandle'),
	(94, 'Can change passkey handle', 24, 'change_passkeyhandle'),
	(95, 'Can delete passkey handle', 24, 'delete_passkeyhandle'),
	(96, 'Can view passkey handle', 24, 'view_passkeyhandle'),
	(97, 'Can add storage limit', 25, 'add_storagelimit'),
	(98, 'Can change storage limit', 25, 'change_storagelimit'),
	(99, 'Can delete storage limit', 25, 'delete_storagelimit'),
	(100, 'Can view storage limit', 25, 'view_storagelimit'),
	(101, 'Can add history size', 26, 'add_historysize'),
	(102, 'Can change history size', 26, 'change_historysize'),
	(103, 'Can delete history size', 26, 'delete_historysize'),
	(104, 'Can view history size', 26, 'view_historysize'),
	(105, 'Can add ban', 27, 'add_ban'),
	(106, 'Can change ban', 27, 'change_ban'),
	(107, 'Can delete ban', 27, 'delete_ban'),
	(108, 'Can view ban', 27, 'view_ban'),
	(109, 'Can add domain', 28, 'add_domain'),
	(110, 'Can change domain', 28, 'change_domain'),
	(111, 'Can delete domain', 28, 'delete_domain'),
	(112, 'Can view domain', 28, 'view_domain'),
	(113, 'Can add link', 29, 'add_link'),
	(114, 'Can change link', 29, 'change_link'),
	(115, 'Can delete link', 29, 'delete_link'),
	(116, 'Can view link', 29, 'view_link'),
	(117, 'Can add route', 30, 'add_route'),
	(118, 'Can change route', 30, 'change_route'),
	(119, 'Can delete route', 30, 'delete_route'),
	(120, 'Can view route', 30, 'view_route'),
	(121, 'Can add owner totals', 31, 'add_ownertotals'),
	(122, 'Can change owner totals', 31, 'change_ownertotals'),
	(123, 'Can delete owner totals', 31, 'delete_ownertotals'),
	(124, 'Can view owner totals', 31, 'view_ownertotals'),
	(125, 'Can add tag totals', 32, 'add_tagtotals'),
	(126, 'Can change tag totals', 32, 'change_tagtotals'),
	(127, 'Can delete tag totals', 32, 'delete_tagtotals'),
	(128, 'Can view tag totals', 32, 'view_tagtotals'),
	(129, 'Can add code', 33, 'add_code'),
	(130, 'Can change code', 33, 'change_code'),
	(131, 'Can delete code', 33, 'delete_code'),
	(132, 'Can view code', 33, 'view_code'),
	(133, 'Can add click counter', 34, 'add_clickcounter'),
	(134, 'Can change click counter', 34, 'change_clickcounter'),
	(135, 'Can delete click counter', 34, 'delete_clickcounter'),
	(136, 'Can view click counter', 34, 'view_clickcounter'),
	(137, 'Can add link ban', 35, 'add_linkban'),
	(138, 'Can change link ban', 35, 'change_linkban'),
	(139, 'Can delete link ban', 35, 'delete_linkban'),
	(140, 'Can view link ban', 35, 'view_linkban'),
	(141, 'Can add created links', 36, 'add_createdlinks'),
	(142, 'Can change created links', 36, 'change_createdlinks'),
	(143, 'Can delete created links', 36, 'delete_createdlinks'),
	(144, 'Can view created links', 36, 'view_createdlinks'),
	(145, 'Can add deleted link', 37, 'add_deletedlink'),
	(146, 'Can change deleted link', 37, 'change_deletedlink'),
	(147, 'Can delete deleted link', 37, 'delete_deletedlink'),
	(148, 'Can view deleted link', 37, 'view_deletedlink'),
	(149, 'Can add visitor key', 38, 'add_visitorkey'),
	(150, 'Can change visitor key', 38, 'change_visitorkey'),
	(151, 'Can delete visitor key', 38, 'delete_visitorkey'),
	(152, 'Can view visitor key', 38, 'view_visitorkey'),
	(153, 'Can add visitor clicks', 39, 'add_visitorclicks'),
	(154, 'Can change visitor clicks', 39, 'change_visitorclicks'),
	(155, 'Can delete visitor clicks', 39, 'delete_visitorclicks'),
	(156, 'Can view visitor clicks', 39, 'view_visitorclicks'),
	(157, 'Can add busy month', 40, 'add_busymonth'),
	(158, 'Can change busy month', 40, 'change_busymonth'),
	(159, 'Can delete busy month', 40, 'delete_busymonth'),
	(160, 'Can view busy month', 40, 'view_busymonth'),
	(161, 'Can add closed day', 41, 'add_closedday'),
	(162, 'Can change closed day', 41, 'change_closedday'),
	(163, 'Can delete closed day', 41, 'delete_closedday'),
	(164, 'Can view closed day', 41, 'view_closedday'),
	(165, 'Can add day salt', 42, 'add_daysalt'),
	(166, 'Can change day salt', 42, 'change_daysalt'),
	(167, 'Can delete day salt', 42, 'delete_daysalt'),
	(168, 'Can view day salt', 42, 'view_daysalt'),
	(169, 'Can add dead letter', 43, 'add_deadletter'),
	(170, 'Can change dead letter', 43, 'change_deadletter'),
	(171, 'Can delete dead letter', 43, 'delete_deadletter'),
	(172, 'Can view dead letter', 43, 'view_deadletter'),
	(173, 'Can add deleted link', 44, 'add_deletedlink'),
	(174, 'Can change deleted link', 44, 'change_deletedlink'),
	(175, 'Can delete deleted link', 44, 'delete_deletedlink'),
	(176, 'Can view deleted link', 44, 'view_deletedlink'),
	(177, 'Can add journal loss', 45, 'add_journalloss'),
	(178, 'Can change journal loss', 45, 'change_journalloss'),
	(179, 'Can delete journal loss', 45, 'delete_journalloss'),
	(180, 'Can view journal loss', 45, 'view_journalloss'),
	(181, 'Can add life count', 46, 'add_lifecount'),
	(182, 'Can change life count', 46, 'change_lifecount'),
	(183, 'Can delete life count', 46, 'delete_lifecount'),
	(184, 'Can view life count', 46, 'view_lifecount'),
	(185, 'Can add month count', 47, 'add_monthcount'),
	(186, 'Can change month count', 47, 'change_monthcount'),
	(187, 'Can delete month count', 47, 'delete_monthcount'),
	(188, 'Can view month count', 47, 'view_monthcount'),
	(189, 'Can add pending record', 48, 'add_pendingrecord'),
	(190, 'Can change pending record', 48, 'change_pendingrecord'),
	(191, 'Can delete pending record', 48, 'delete_pendingrecord'),
	(192, 'Can view pending record', 48, 'view_pendingrecord'),
	(193, 'Can add segment', 49, 'add_segment'),
	(194, 'Can change segment', 49, 'change_segment'),
	(195, 'Can delete segment', 49, 'delete_segment'),
	(196, 'Can view segment', 49, 'view_segment'),
	(197, 'Can add unknown code', 50, 'add_unknowncode'),
	(198, 'Can change unknown code', 50, 'change_unknowncode'),
	(199, 'Can delete unknown code', 50, 'delete_unknowncode'),
	(200, 'Can view unknown code', 50, 'view_unknowncode'),
	(201, 'Can add host clock', 51, 'add_hostclock'),
	(202, 'Can change host clock', 51, 'change_hostclock'),
	(203, 'Can delete host clock', 51, 'delete_hostclock'),
	(204, 'Can view host clock', 51, 'view_hostclock'),
	(205, 'Can add day count', 52, 'add_daycount'),
	(206, 'Can change day count', 52, 'change_daycount'),
	(207, 'Can delete day count', 52, 'delete_daycount'),
	(208, 'Can view day count', 52, 'view_daycount'),
	(209, 'Can add quarter total', 53, 'add_quartertotal'),
	(210, 'Can change quarter total', 53, 'change_quartertotal'),
	(211, 'Can delete quarter total', 53, 'delete_quartertotal'),
	(212, 'Can view quarter total', 53, 'view_quartertotal'),
	(213, 'Can add busy day count', 54, 'add_busydaycount'),
	(214, 'Can change busy day count', 54, 'change_busydaycount'),
	(215, 'Can delete busy day count', 54, 'delete_busydaycount'),
	(216, 'Can view busy day count', 54, 'view_busydaycount'),
	(217, 'Can add day total', 55, 'add_daytotal'),
	(218, 'Can change day total', 55, 'change_daytotal'),
	(219, 'Can delete day total', 55, 'delete_daytotal'),
	(220, 'Can view day total', 55, 'view_daytotal'),
	(221, 'Can add visitor block', 56, 'add_visitorblock'),
	(222, 'Can change visitor block', 56, 'change_visitorblock'),
	(223, 'Can delete visitor block', 56, 'delete_visitorblock'),
	(224, 'Can view visitor block', 56, 'view_visitorblock'),
	(225, 'Can add click', 57, 'add_click'),
	(226, 'Can change click', 57, 'change_click'),
	(227, 'Can delete click', 57, 'delete_click'),
	(228, 'Can view click', 57, 'view_click'),
	(229, 'Can add click text', 58, 'add_clicktext'),
	(230, 'Can change click text', 58, 'change_clicktext'),
	(231, 'Can delete click text', 58, 'delete_clicktext'),
	(232, 'Can view click text', 58, 'view_clicktext'),
	(233, 'Can add raw click', 59, 'add_rawclick'),
	(234, 'Can change raw click', 59, 'change_rawclick'),
	(235, 'Can delete raw click', 59, 'delete_rawclick'),
	(236, 'Can view raw click', 59, 'view_rawclick'),
	(237, 'Can add QR code', 60, 'add_qrcode'),
	(238, 'Can change QR code', 60, 'change_qrcode'),
	(239, 'Can delete QR code', 60, 'delete_qrcode'),
	(240, 'Can view QR code', 60, 'view_qrcode'),
	(241, 'Can add deleted qr code', 61, 'add_deletedqrcode'),
	(242, 'Can change deleted qr code', 61, 'change_deletedqrcode'),
	(243, 'Can delete deleted qr code', 61, 'delete_deletedqrcode'),
	(244, 'Can view deleted qr code', 61, 'view_deletedqrcode');
INSERT INTO django_content_type VALUES
	(1, 'admin', 'logentry'),
	(2, 'auth', 'permission'),
	(3, 'auth', 'group'),
	(4, 'contenttypes', 'contenttype'),
	(5, 'sessions', 'session'),
	(6, 'account', 'emailaddress'),
	(7, 'account', 'emailconfirmation'),
	(8, 'mfa', 'authenticator'),
	(9, 'socialaccount', 'socialaccount'),
	(10, 'socialaccount', 'socialapp'),
	(11, 'socialaccount', 'socialtoken'),
	(12, 'limits', 'attemptlog'),
	(13, 'limits', 'requestcount'),
	(14, 'limits', 'knownnetwork'),
	(15, 'accounts', 'user'),
	(16, 'accounts', 'apikey'),
	(17, 'accounts', 'session'),
	(18, 'accounts', 'storedresponse'),
	(19, 'accounts', 'change'),
	(20, 'accounts', 'workspace'),
	(21, 'accounts', 'member'),
	(22, 'accounts', 'invitation'),
	(23, 'accounts', 'scopedkey'),
	(24, 'accounts', 'passkeyhandle'),
	(25, 'accounts', 'storagelimit'),
	(26, 'accounts', 'historysize'),
	(27, 'bans', 'ban'),
	(28, 'domains', 'domain'),
	(29, 'links', 'link'),
	(30, 'links', 'route'),
	(31, 'links', 'ownertotals'),
	(32, 'links', 'tagtotals'),
	(33, 'links', 'code'),
	(34, 'links', 'clickcounter'),
	(35, 'links', 'linkban'),
	(36, 'links', 'createdlinks'),
	(37, 'links', 'deletedlink'),
	(38, 'links', 'visitorkey'),
	(39, 'links', 'visitorclicks'),
	(40, 'analytics', 'busymonth'),
	(41, 'analytics', 'closedday'),
	(42, 'analytics', 'daysalt'),
	(43, 'analytics', 'deadletter'),
	(44, 'analytics', 'deletedlink'),
	(45, 'analytics', 'journalloss'),
	(46, 'analytics', 'lifecount'),
	(47, 'analytics', 'monthcount'),
	(48, 'analytics', 'pendingrecord'),
	(49, 'analytics', 'segment'),
	(50, 'analytics', 'unknowncode'),
	(51, 'analytics', 'hostclock'),
	(52, 'analytics', 'daycount'),
	(53, 'analytics', 'quartertotal'),
	(54, 'analytics', 'busydaycount'),
	(55, 'analytics', 'daytotal'),
	(56, 'analytics', 'visitorblock'),
	(57, 'analytics', 'click'),
	(58, 'analytics', 'clicktext'),
	(59, 'analytics', 'rawclick'),
	(60, 'qrcodes', 'qrcode'),
	(61, 'qrcodes', 'deletedqrcode');
INSERT INTO django_migrations VALUES
	(1, 'contenttypes', '0001_initial', now(), NULL),
	(2, 'contenttypes', '0002_remove_content_type_name', now(), NULL),
	(3, 'auth', '0001_initial', now(), NULL),
	(4, 'auth', '0002_alter_permission_name_max_length', now(), NULL),
	(5, 'auth', '0003_alter_user_email_max_length', now(), NULL),
	(6, 'auth', '0004_alter_user_username_opts', now(), NULL),
	(7, 'auth', '0005_alter_user_last_login_null', now(), NULL),
	(8, 'auth', '0006_require_contenttypes_0002', now(), NULL),
	(9, 'auth', '0007_alter_validators_add_error_messages', now(), NULL),
	(10, 'auth', '0008_alter_user_username_max_length', now(), NULL),
	(11, 'auth', '0009_alter_user_last_name_max_length', now(), NULL),
	(12, 'auth', '0010_alter_group_name_max_length', now(), NULL),
	(13, 'auth', '0011_update_proxy_permissions', now(), NULL),
	(14, 'auth', '0012_alter_user_first_name_max_length', now(), NULL),
	(15, 'accounts', '0001_initial', now(), '45d5db54952613abe294f841c705856c90cdebfe8159c0b392c33d0e460d423f'),
	(16, 'account', '0001_initial', now(), NULL),
	(17, 'account', '0002_email_max_length', now(), NULL),
	(18, 'account', '0003_alter_emailaddress_create_unique_verified_email', now(), NULL),
	(19, 'account', '0004_alter_emailaddress_drop_unique_email', now(), NULL),
	(20, 'account', '0005_emailaddress_idx_upper_email', now(), NULL),
	(21, 'account', '0006_emailaddress_lower', now(), NULL),
	(22, 'account', '0007_emailaddress_idx_email', now(), NULL),
	(23, 'account', '0008_emailaddress_unique_primary_email_fixup', now(), NULL),
	(24, 'account', '0009_emailaddress_unique_primary_email', now(), NULL),
	(25, 'socialaccount', '0001_initial', now(), NULL),
	(26, 'socialaccount', '0002_token_max_lengths', now(), NULL),
	(27, 'socialaccount', '0003_extra_data_default_dict', now(), NULL),
	(28, 'socialaccount', '0004_app_provider_id_settings', now(), NULL),
	(29, 'socialaccount', '0005_socialtoken_nullable_app', now(), NULL),
	(30, 'socialaccount', '0006_alter_socialaccount_extra_data', now(), NULL),
	(31, 'accounts', '0002_workspaces', now(), 'de5e94af1ed14c7313eebbe9a46c5d4d3b5f059bc23d937b59ae398cd24f8de8'),
	(32, 'accounts', '0003_invitation', now(), 'd240cb4d5fd25e9a5153c119f9fe2d56a4f7d12279ed680d38132772ee5cfbcc'),
	(33, 'accounts', '0004_scoped_keys', now(), '99c91f5f881589f5cc7ca616cfc6c4109d0b91e599666be84dc8958331466212'),
	(34, 'accounts', '0005_history_of_identities', now(), 'ff515123238a18d0178a22f55f3c618320a348f9d36d5e59c3b4cd4517aa0b76'),
	(35, 'accounts', '0006_staff_by_provider', now(), '11ba5e66ac688d4b43d57dacc038ca831441d6d45650eefaace014ad9ad77b7e'),
	(36, 'accounts', '0007_passkey_handles', now(), '5e19fe8ea06249d6fc5cb581c3f3deac2a67a7d5d5461ff9b896fac74303b2e7'),
	(37, 'accounts', '0008_confirmed_sessions', now(), 'd348f7fcfb5723a0684a86aa2278c7e3da5ad917bc419d40d246f5d046e16e8c'),
	(38, 'accounts', '0009_shared_limits', now(), '73759d3b246dba2dc63190916a0b2fc4ba224e0e363a46c4f244ad775c72cdb0'),
	(39, 'admin', '0001_initial', now(), NULL),
	(40, 'admin', '0002_logentry_remove_auto_add', now(), NULL),
	(41, 'admin', '0003_logentry_add_action_flag_choices', now(), NULL),
	(42, 'domains', '0001_initial', now(), '78b2acf3821a31fbcdccf493feb091dbd23512192ab4e268010180dde8608fc6'),
	(43, 'links', '0001_initial', now(), '96e74b7131a64f391f46b41a865c5da2e38c00afe36f9bc4382711f8d438e14a'),
	(44, 'bans', '0001_initial', now(), '7b883431d3eafc6c9b83a4e0822f79a28c0d8398f12e26d22c5fe554f20b1bc9'),
	(45, 'links', '0002_functions_and_triggers', now(), '1a43cbd4f333de5025671bc93586031e593805853379eeb0e501c02f6669be60'),
	(46, 'analytics', '0001_initial', now(), 'b840cec863c532df39b87b33c2480d59cbe63f7c96e4b14edcf2d40d04fe5756'),
	(47, 'analytics', '0002_host_clocks', now(), '6595ad53fc9cf9ee550b746e33953c6f828bd43866f8547341a12a9cdf4f18ba'),
	(48, 'analytics', '0003_one_row_per_link_and_day', now(), '8e181c4a8140343faada85118aec3643b1f7550b42be0a97be2a40fec2d10c05'),
	(49, 'analytics', '0004_visitor_blocks', now(), 'a02718f82b93cd08103c0589edf9930cf3e0dc1cd1f0eecdff6705e493ae4b93'),
	(50, 'analytics', '0005_narrow_clicks', now(), '6254b1e16af6eb202afd7f7ae5a110529b3455ae2b7fc324bc9e8130d2c0db7b'),
	(51, 'bans', '0002_owned_by_workspaces', now(), '820fd1bf2771483f5fc32629cadf08ad58df6b765645a1aa6631bcdbed6745b2'),
	(52, 'domains', '0002_owned_by_workspaces', now(), '16e23a1ada7556ec985a02de3a8a22bbf4c77f7d3187a0e001d3d762124dc70d'),
	(53, 'domains', '0003_domain_of_keys', now(), '4e39167357c5b76e11fb61b57b0812839b56a1f1d63f414c51d0e431b3410af2'),
	(54, 'limits', '0001_initial', now(), '44aee3597253b1132001afb1d55da4c0cea0e069047bcba902dbd67f391eed2b'),
	(55, 'links', '0003_owned_by_workspaces', now(), '6e72ea56423094a87af8f34076ef7b6b0e2d67f17b2b55c078bb88bbdb81532a'),
	(56, 'links', '0004_keys_of_links', now(), '96b45b54dbdc0b759bb12ae960abebaff95733279c3680d7c19327eae256d45b'),
	(57, 'links', '0005_stored_bytes', now(), 'bbaf8af90d8c86bcea9668196e53e2a15b01d40e575b4800e3d8a71f130b0fad'),
	(58, 'mfa', '0001_initial', now(), NULL),
	(59, 'mfa', '0002_authenticator_timestamps', now(), NULL),
	(60, 'mfa', '0003_authenticator_type_uniq', now(), NULL),
	(61, 'qrcodes', '0001_initial', now(), 'c7b79afb27316edf05bcea185ca7e21886d27a1f1f397ee7543b5ad6ebfb7af0'),
	(62, 'qrcodes', '0002_owned_by_workspaces', now(), '66c64a9f3d2ac06ff32e69488dc18bf8937b54951559045561811dcb4b872103'),
	(63, 'qrcodes', '0003_stored_bytes', now(), '8efb54d1ae5b9cbbd8f95b7610aea88125af05bae6526dda315b48612e00f07b'),
	(64, 'sessions', '0001_initial', now(), NULL);
SELECT pg_catalog.setval('account_emailaddress_id_seq', 1, false);
SELECT pg_catalog.setval('account_emailconfirmation_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_change_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_invitation_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_scopedkey_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_session_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_storedresponse_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_user_groups_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_user_id_seq', 1, false);
SELECT pg_catalog.setval('accounts_user_user_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('analytics_clicktext_number_seq', 1, false);
SELECT pg_catalog.setval('analytics_deadletter_id_seq', 1, false);
SELECT pg_catalog.setval('analytics_pendingrecord_id_seq', 1, false);
SELECT pg_catalog.setval('analytics_rawclick_id_seq', 1, false);
SELECT pg_catalog.setval('auth_group_id_seq', 1, false);
SELECT pg_catalog.setval('auth_group_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('auth_permission_id_seq', 244, true);
SELECT pg_catalog.setval('bans_ban_id_seq', 1, false);
SELECT pg_catalog.setval('django_admin_log_id_seq', 1, false);
SELECT pg_catalog.setval('django_content_type_id_seq', 61, true);
SELECT pg_catalog.setval('django_migrations_id_seq', 64, true);
SELECT pg_catalog.setval('domains_domain_id_seq', 1, false);
SELECT pg_catalog.setval('links_code_id_seq', 1, false);
SELECT pg_catalog.setval('links_link_id_seq', 1, false);
SELECT pg_catalog.setval('links_linkban_id_seq', 1, false);
SELECT pg_catalog.setval('links_route_id_seq', 1, false);
SELECT pg_catalog.setval('mfa_authenticator_id_seq', 1, false);
SELECT pg_catalog.setval('qrcodes_deletedqrcode_id_seq', 1, false);
SELECT pg_catalog.setval('qrcodes_qrcode_id_seq', 1, false);
SELECT pg_catalog.setval('socialaccount_socialaccount_id_seq', 1, false);
SELECT pg_catalog.setval('socialaccount_socialapp_id_seq', 1, false);
SELECT pg_catalog.setval('socialaccount_socialtoken_id_seq', 1, false);
ALTER TABLE ONLY account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);
ALTER TABLE ONLY account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);
ALTER TABLE ONLY account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);
ALTER TABLE ONLY account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_apikey
    ADD CONSTRAINT accounts_apikey_digest_key UNIQUE (digest);
ALTER TABLE ONLY accounts_apikey
    ADD CONSTRAINT accounts_apikey_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY accounts_change
    ADD CONSTRAINT accounts_change_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_historysize
    ADD CONSTRAINT accounts_historysize_pkey PRIMARY KEY (owner_id);
ALTER TABLE ONLY accounts_invitation
    ADD CONSTRAINT accounts_invitation_digest_key UNIQUE (digest);
ALTER TABLE ONLY accounts_invitation
    ADD CONSTRAINT accounts_invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_invitation
    ADD CONSTRAINT accounts_invitation_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY accounts_member
    ADD CONSTRAINT accounts_member_pkey PRIMARY KEY (workspace_id, user_id);
ALTER TABLE ONLY accounts_passkeyhandle
    ADD CONSTRAINT accounts_passkeyhandle_handle_key UNIQUE (handle);
ALTER TABLE ONLY accounts_passkeyhandle
    ADD CONSTRAINT accounts_passkeyhandle_pkey PRIMARY KEY (user_id);
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_digest_key UNIQUE (digest);
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY accounts_session
    ADD CONSTRAINT accounts_session_browser_session_key UNIQUE (browser_session);
ALTER TABLE ONLY accounts_session
    ADD CONSTRAINT accounts_session_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_session
    ADD CONSTRAINT accounts_session_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY accounts_storagelimit
    ADD CONSTRAINT accounts_storagelimit_pkey PRIMARY KEY (plan);
ALTER TABLE ONLY accounts_storedresponse
    ADD CONSTRAINT accounts_storedresponse_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_user
    ADD CONSTRAINT accounts_user_email_key UNIQUE (email);
ALTER TABLE ONLY accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_user_id_group_id_59c0b32f_uniq UNIQUE (user_id, group_id);
ALTER TABLE ONLY accounts_user
    ADD CONSTRAINT accounts_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_user
    ADD CONSTRAINT accounts_user_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_permi_user_id_permission_id_2ab516c2_uniq UNIQUE (user_id, permission_id);
ALTER TABLE ONLY accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_workspace
    ADD CONSTRAINT accounts_workspace_account_id_key UNIQUE (account_id);
ALTER TABLE ONLY accounts_workspace
    ADD CONSTRAINT accounts_workspace_pkey PRIMARY KEY (id);
ALTER TABLE ONLY accounts_workspace
    ADD CONSTRAINT accounts_workspace_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY analytics_busydaycount
    ADD CONSTRAINT analytics_busydaycount_pkey PRIMARY KEY (link_id, dimension, day, value, slot);
ALTER TABLE ONLY analytics_busymonth
    ADD CONSTRAINT analytics_busymonth_pkey PRIMARY KEY (link_id, month);
ALTER TABLE ONLY analytics_clicktext
    ADD CONSTRAINT analytics_clicktext_pkey PRIMARY KEY (week, number);
ALTER TABLE ONLY analytics_closedday
    ADD CONSTRAINT analytics_closedday_pkey PRIMARY KEY (day);
ALTER TABLE ONLY analytics_daysalt
    ADD CONSTRAINT analytics_daysalt_pkey PRIMARY KEY (day);
ALTER TABLE ONLY analytics_daytotal
    ADD CONSTRAINT analytics_daytotal_pkey PRIMARY KEY (link_id, day, slot);
ALTER TABLE ONLY analytics_deadletter
    ADD CONSTRAINT analytics_deadletter_pkey PRIMARY KEY (id);
ALTER TABLE ONLY analytics_deletedlink
    ADD CONSTRAINT analytics_deletedlink_pkey PRIMARY KEY (link_id);
ALTER TABLE ONLY analytics_hostclock
    ADD CONSTRAINT analytics_hostclock_pkey PRIMARY KEY (host);
ALTER TABLE ONLY analytics_journalloss
    ADD CONSTRAINT analytics_journalloss_pkey PRIMARY KEY (segment_id);
ALTER TABLE ONLY analytics_lifecount
    ADD CONSTRAINT analytics_lifecount_pkey PRIMARY KEY (link_id, dimension, value, slot);
ALTER TABLE ONLY analytics_monthcount
    ADD CONSTRAINT analytics_monthcount_pkey PRIMARY KEY (link_id, dimension, month, value, slot);
ALTER TABLE ONLY analytics_pendingrecord
    ADD CONSTRAINT analytics_pendingrecord_pkey PRIMARY KEY (id);
ALTER TABLE ONLY analytics_segment
    ADD CONSTRAINT analytics_segment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY analytics_unknowncode
    ADD CONSTRAINT analytics_unknowncode_pkey PRIMARY KEY (domain_id, day, slot);
ALTER TABLE ONLY analytics_visitorblock
    ADD CONSTRAINT analytics_visitorblock_pkey PRIMARY KEY (link_id, day, first);
ALTER TABLE ONLY auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);
ALTER TABLE ONLY auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);
ALTER TABLE ONLY auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);
ALTER TABLE ONLY auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);
ALTER TABLE ONLY bans_ban
    ADD CONSTRAINT bans_ban_host_key UNIQUE (host);
ALTER TABLE ONLY bans_ban
    ADD CONSTRAINT bans_ban_owner_id_key UNIQUE (owner_id);
ALTER TABLE ONLY bans_ban
    ADD CONSTRAINT bans_ban_pkey PRIMARY KEY (id);
ALTER TABLE ONLY links_code
    ADD CONSTRAINT code_unique UNIQUE NULLS NOT DISTINCT (domain_id, code);
ALTER TABLE ONLY django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);
ALTER TABLE ONLY django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);
ALTER TABLE ONLY domains_domain
    ADD CONSTRAINT domain_claimed_once_by_an_owner UNIQUE (owner_id, host);
ALTER TABLE ONLY domains_domain
    ADD CONSTRAINT domains_domain_pkey PRIMARY KEY (id);
ALTER TABLE ONLY domains_domain
    ADD CONSTRAINT domains_domain_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY accounts_storedresponse
    ADD CONSTRAINT idempotent_once UNIQUE (owner_id, key_digest);
ALTER TABLE ONLY limits_attemptlog
    ADD CONSTRAINT limits_attemptlog_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY limits_knownnetwork
    ADD CONSTRAINT limits_knownnetwork_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY limits_requestcount
    ADD CONSTRAINT limits_requestcount_pkey PRIMARY KEY (subject);
ALTER TABLE ONLY links_clickcounter
    ADD CONSTRAINT links_clickcounter_pkey PRIMARY KEY (link_id);
ALTER TABLE ONLY links_code
    ADD CONSTRAINT links_code_pkey PRIMARY KEY (id);
ALTER TABLE ONLY links_createdlinks
    ADD CONSTRAINT links_createdlinks_pkey PRIMARY KEY (owner_id);
ALTER TABLE ONLY links_deletedlink
    ADD CONSTRAINT links_deletedlink_pkey PRIMARY KEY (link_id);
ALTER TABLE ONLY links_deletedlink
    ADD CONSTRAINT links_deletedlink_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY links_link
    ADD CONSTRAINT links_link_pkey PRIMARY KEY (id);
ALTER TABLE ONLY links_link
    ADD CONSTRAINT links_link_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY links_linkban
    ADD CONSTRAINT links_linkban_link_id_key UNIQUE (link_id);
ALTER TABLE ONLY links_linkban
    ADD CONSTRAINT links_linkban_pkey PRIMARY KEY (id);
ALTER TABLE ONLY links_ownertotals
    ADD CONSTRAINT links_ownertotals_pkey PRIMARY KEY (owner_id, slot);
ALTER TABLE ONLY links_route
    ADD CONSTRAINT links_route_pkey PRIMARY KEY (id);
ALTER TABLE ONLY links_searchable
    ADD CONSTRAINT links_searchable_pkey PRIMARY KEY (link_id);
ALTER TABLE ONLY links_tagtotals
    ADD CONSTRAINT links_tagtotals_pkey PRIMARY KEY (owner_id, tag_key, slot);
ALTER TABLE ONLY links_visitorclicks
    ADD CONSTRAINT links_visitorclicks_pkey PRIMARY KEY (link_id, visitor);
ALTER TABLE ONLY links_visitorkey
    ADD CONSTRAINT links_visitorkey_pkey PRIMARY KEY (link_id);
ALTER TABLE ONLY mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcode_once UNIQUE (link_id, digest);
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcode_token UNIQUE (token);
ALTER TABLE ONLY qrcodes_deletedqrcode
    ADD CONSTRAINT qrcodes_deletedqrcode_pkey PRIMARY KEY (id);
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcodes_qrcode_pkey PRIMARY KEY (id);
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcodes_qrcode_public_id_key UNIQUE (public_id);
ALTER TABLE ONLY socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_pkey PRIMARY KEY (id);
ALTER TABLE ONLY socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_provider_uid_fc810c6e_uniq UNIQUE (provider, uid);
ALTER TABLE ONLY socialaccount_socialapp
    ADD CONSTRAINT socialaccount_socialapp_pkey PRIMARY KEY (id);
ALTER TABLE ONLY socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq UNIQUE (app_id, account_id);
ALTER TABLE ONLY socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_pkey PRIMARY KEY (id);
CREATE INDEX account_emailaddress_email_03be32b2 ON account_emailaddress USING btree (email);
CREATE INDEX account_emailaddress_email_03be32b2_like ON account_emailaddress USING btree (email varchar_pattern_ops);
CREATE INDEX account_emailaddress_user_id_2c513194 ON account_emailaddress USING btree (user_id);
CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON account_emailconfirmation USING btree (email_address_id);
CREATE INDEX account_emailconfirmation_key_f43612bd_like ON account_emailconfirmation USING btree (key varchar_pattern_ops);
CREATE INDEX accounts_invitation_invited_by_id_94a21efc ON accounts_invitation USING btree (invited_by_id);
CREATE INDEX accounts_invitation_workspace_id_7dc693ca ON accounts_invitation USING btree (workspace_id);
CREATE INDEX accounts_member_user_id_b994c8b6 ON accounts_member USING btree (user_id);
CREATE INDEX accounts_scopedkey_user_id_78f86aaa ON accounts_scopedkey USING btree (user_id);
CREATE INDEX accounts_session_browser_session_bd281b7c_like ON accounts_session USING btree (browser_session varchar_pattern_ops);
CREATE INDEX accounts_session_expires_at_94e81f09 ON accounts_session USING btree (expires_at);
CREATE INDEX accounts_session_user_id_d5aaed01 ON accounts_session USING btree (user_id);
CREATE INDEX accounts_storagelimit_plan_f656ba50_like ON accounts_storagelimit USING btree (plan varchar_pattern_ops);
CREATE INDEX accounts_storedresponse_created_at_348a4d77 ON accounts_storedresponse USING btree (created_at);
CREATE INDEX accounts_user_email_b2644a56_like ON accounts_user USING btree (email varchar_pattern_ops);
CREATE INDEX accounts_user_groups_group_id_bd11a704 ON accounts_user_groups USING btree (group_id);
CREATE INDEX accounts_user_groups_user_id_52b62117 ON accounts_user_groups USING btree (user_id);
CREATE INDEX accounts_user_user_permissions_permission_id_113bb443 ON accounts_user_user_permissions USING btree (permission_id);
CREATE INDEX accounts_user_user_permissions_user_id_e4f0a161 ON accounts_user_user_permissions USING btree (user_id);
CREATE INDEX analytics_hostclock_host_ccc3c656_like ON analytics_hostclock USING btree (host text_pattern_ops);
CREATE INDEX rawclick_link_minute ON ONLY analytics_rawclick USING btree (link_id, minute);
CREATE INDEX analytics_rawclick_default_link_id_minute_idx ON analytics_rawclick_default USING btree (link_id, minute);
CREATE INDEX rawclick_minute ON ONLY analytics_rawclick USING brin (minute) WITH (autosummarize='on');
CREATE INDEX analytics_rawclick_default_minute_idx ON analytics_rawclick_default USING brin (minute) WITH (autosummarize='on');
CREATE INDEX auth_group_name_a6ea08ec_like ON auth_group USING btree (name varchar_pattern_ops);
CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON auth_group_permissions USING btree (group_id);
CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON auth_group_permissions USING btree (permission_id);
CREATE INDEX auth_permission_content_type_id_2f476e4b ON auth_permission USING btree (content_type_id);
CREATE INDEX bans_ban_host_fe804435_like ON bans_ban USING btree (host varchar_pattern_ops);
CREATE INDEX busydaycount_day ON analytics_busydaycount USING brin (day) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX busydaycount_outcome_day ON analytics_busydaycount USING btree (day) WHERE (dimension = 5);
CREATE INDEX change_object ON accounts_change USING btree (object_id, id);
CREATE INDEX change_owner ON accounts_change USING btree (owner_id, id);
CREATE INDEX change_owner_action ON accounts_change USING btree (owner_id, action, id);
CREATE INDEX change_owner_actor ON accounts_change USING btree (owner_id, actor_id, id);
CREATE INDEX counter_owner_clicks ON links_clickcounter USING btree (owner_id, clicks, link_id);
CREATE INDEX daytotal_day ON analytics_daytotal USING brin (day) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON django_admin_log USING btree (content_type_id);
CREATE INDEX django_admin_log_user_id_c564eba6 ON django_admin_log USING btree (user_id);
CREATE INDEX django_session_expire_date_a5c62663 ON django_session USING btree (expire_date);
CREATE INDEX django_session_session_key_c0390e0f_like ON django_session USING btree (session_key varchar_pattern_ops);
CREATE INDEX domain_active_recheck_at ON domains_domain USING btree (recheck_at) WHERE ((status)::text = 'active'::text);
CREATE INDEX domain_pending_until ON domains_domain USING btree (claimed_until) WHERE ((status)::text = 'pending'::text);
CREATE UNIQUE INDEX domain_proven_host_unique ON domains_domain USING btree (host) WHERE (NOT ((status)::text = 'pending'::text));
CREATE INDEX domains_domain_owner_id_8c4e9887 ON domains_domain USING btree (owner_id);
CREATE INDEX limits_knownnetwork_until_3de1c5de ON limits_knownnetwork USING btree (until);
CREATE INDEX link_creator ON links_link USING btree (creator_id) WHERE (creator_id IS NOT NULL);
CREATE INDEX link_domain ON links_link USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX link_key ON links_link USING btree (key_id, owner_id) WHERE (key_id IS NOT NULL);
CREATE INDEX links_code_link_id_4aa3d6e8 ON links_code USING btree (link_id);
CREATE INDEX links_deletedlink_deleted_at_47ec6de5 ON links_deletedlink USING btree (deleted_at);
CREATE INDEX links_deletedlink_owner_id_85249d1c ON links_deletedlink USING btree (owner_id);
CREATE INDEX links_owner_created ON links_searchable USING btree (owner_id, created_at, link_id);
CREATE INDEX links_owner_domain ON links_searchable USING btree (owner_id, domain_id, created_at, link_id);
CREATE INDEX links_owner_inactive ON links_searchable USING btree (owner_id, created_at, link_id) WHERE (NOT is_active);
CREATE INDEX links_owner_title ON links_link USING btree (owner_id, COALESCE(title, ''::character varying) COLLATE "C", id);
CREATE INDEX links_search ON links_searchable USING gin (links_keys(owner_id, links_period(created_at), is_active, tag_keys, content));
ALTER INDEX links_search ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON mfa_authenticator USING btree (user_id);
CREATE INDEX qrcode_owner ON qrcodes_qrcode USING btree (owner_id, id DESC);
CREATE INDEX qrcodes_deletedqrcode_link_id_8e645ebe ON qrcodes_deletedqrcode USING btree (link_id);
CREATE INDEX route_current ON links_route USING btree (link_id, number) WHERE (until IS NULL);
CREATE INDEX route_link_branch_since ON links_route USING btree (link_id, branch, since);
CREATE INDEX route_link_number_since ON links_route USING btree (link_id, number, since);
CREATE INDEX scopedkey_domain ON accounts_scopedkey USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX scopedkey_membership ON accounts_scopedkey USING btree (workspace_id, user_id);
CREATE UNIQUE INDEX scopedkey_previous_digest ON accounts_scopedkey USING btree (previous_digest) WHERE (previous_digest IS NOT NULL);
CREATE INDEX session_ended ON accounts_session USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX session_live ON accounts_session USING btree (user_id, id) WHERE (ended_at IS NULL);
CREATE INDEX socialaccount_socialaccount_user_id_8146e70c ON socialaccount_socialaccount USING btree (user_id);
CREATE INDEX socialaccount_socialtoken_account_id_951f210e ON socialaccount_socialtoken USING btree (account_id);
CREATE INDEX socialaccount_socialtoken_app_id_636a42d7 ON socialaccount_socialtoken USING btree (app_id);
CREATE UNIQUE INDEX unique_authenticator_type ON mfa_authenticator USING btree (user_id, type) WHERE ((type)::text = ANY ((ARRAY['totp'::character varying, 'recovery_codes'::character varying])::text[]));
CREATE UNIQUE INDEX unique_primary_email ON account_emailaddress USING btree (user_id, "primary") WHERE "primary";
CREATE UNIQUE INDEX unique_verified_email ON account_emailaddress USING btree (email) WHERE verified;
ALTER INDEX rawclick_link_minute ATTACH PARTITION analytics_rawclick_default_link_id_minute_idx;
ALTER INDEX rawclick_minute ATTACH PARTITION analytics_rawclick_default_minute_idx;
CREATE TRIGGER accounts_create_personal_workspace AFTER INSERT ON accounts_user FOR EACH ROW EXECUTE FUNCTION accounts_create_personal_workspace();
CREATE TRIGGER accounts_delete_history AFTER DELETE ON accounts_workspace FOR EACH ROW EXECUTE FUNCTION accounts_delete_history();
CREATE TRIGGER accounts_record_account_change AFTER UPDATE ON accounts_user FOR EACH ROW WHEN (((((((((old.email)::text IS DISTINCT FROM (new.email)::text) OR ((old.first_name)::text IS DISTINCT FROM (new.first_name)::text)) OR ((old.last_name)::text IS DISTINCT FROM (new.last_name)::text)) OR ((old.plan)::text IS DISTINCT FROM (new.plan)::text)) OR (old.is_active IS DISTINCT FROM new.is_active)) OR (old.is_staff IS DISTINCT FROM new.is_staff)) OR (old.is_superuser IS DISTINCT FROM new.is_superuser))) EXECUTE FUNCTION accounts_record_account_change();
CREATE TRIGGER accounts_record_former_member AFTER DELETE ON accounts_member FOR EACH ROW WHEN ((old.workspace_id <> old.user_id)) EXECUTE FUNCTION accounts_record_member_change();
CREATE TRIGGER accounts_record_identity_change AFTER INSERT OR DELETE ON socialaccount_socialaccount FOR EACH ROW EXECUTE FUNCTION accounts_record_identity_change();
CREATE TRIGGER accounts_record_new_member AFTER INSERT ON accounts_member FOR EACH ROW WHEN ((new.workspace_id <> new.user_id)) EXECUTE FUNCTION accounts_record_member_change();
CREATE TRIGGER accounts_record_new_workspace AFTER INSERT ON accounts_workspace FOR EACH ROW WHEN ((new.account_id IS NULL)) EXECUTE FUNCTION accounts_record_workspace_change();
CREATE TRIGGER accounts_record_role AFTER UPDATE ON accounts_member FOR EACH ROW WHEN (((old.role)::text <> (new.role)::text)) EXECUTE FUNCTION accounts_record_member_change();
CREATE TRIGGER accounts_record_workspace_change AFTER UPDATE ON accounts_workspace FOR EACH ROW WHEN ((((old.name)::text IS DISTINCT FROM (new.name)::text) OR ((old.plan)::text IS DISTINCT FROM (new.plan)::text))) EXECUTE FUNCTION accounts_record_workspace_change();
CREATE TRIGGER analytics_after_final_deletion AFTER DELETE ON links_deletedlink FOR EACH ROW EXECUTE FUNCTION analytics_after_final_deletion();
CREATE TRIGGER analytics_after_link_delete AFTER DELETE ON links_link REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION analytics_after_link_delete();
CREATE TRIGGER domains_record_change AFTER INSERT OR DELETE ON domains_domain FOR EACH ROW EXECUTE FUNCTION domains_record_change();
CREATE TRIGGER domains_record_changed_key AFTER UPDATE ON accounts_scopedkey FOR EACH ROW WHEN ((((((((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.scopes IS DISTINCT FROM new.scopes)) OR (old.domain_id IS DISTINCT FROM new.domain_id)) OR (old.only_own IS DISTINCT FROM new.only_own)) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.digest IS DISTINCT FROM new.digest))) EXECUTE FUNCTION domains_record_key_change();
CREATE TRIGGER domains_record_key AFTER INSERT OR DELETE ON accounts_scopedkey FOR EACH ROW EXECUTE FUNCTION domains_record_key_change();
CREATE TRIGGER domains_record_update AFTER UPDATE ON domains_domain FOR EACH ROW WHEN ((((((old.status)::text IS DISTINCT FROM (new.status)::text) OR (old.root_url IS DISTINCT FROM new.root_url)) OR (old.not_found_url IS DISTINCT FROM new.not_found_url)) OR (old.expired_url IS DISTINCT FROM new.expired_url))) EXECUTE FUNCTION domains_record_change();
CREATE TRIGGER links_after_delete AFTER DELETE ON links_link REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_delete();
CREATE TRIGGER links_after_final_deletion AFTER DELETE ON links_deletedlink FOR EACH ROW EXECUTE FUNCTION links_after_final_deletion();
CREATE TRIGGER links_after_insert AFTER INSERT ON links_link REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_insert();
CREATE TRIGGER links_after_update AFTER UPDATE ON links_link REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_after_update();
CREATE TRIGGER links_bytes_after_final_deletion AFTER DELETE ON links_deletedlink REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_bytes_after_final_deletion();
CREATE TRIGGER links_clicks_after_delete AFTER DELETE ON links_clickcounter REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_delete();
CREATE TRIGGER links_clicks_after_update AFTER UPDATE ON links_clickcounter REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_update();
CREATE TRIGGER links_delete_unused_tag AFTER UPDATE ON links_tagtotals FOR EACH ROW WHEN ((new.links = 0)) EXECUTE FUNCTION links_delete_unused_tag();
CREATE TRIGGER links_delete_visitors AFTER UPDATE ON links_link FOR EACH ROW WHEN (((old.max_clicks_per_visitor IS NOT NULL) AND (new.max_clicks_per_visitor IS NULL))) EXECUTE FUNCTION links_delete_visitors();
CREATE TRIGGER links_immutable BEFORE UPDATE OF original_url, destination, short_code ON links_link FOR EACH ROW WHEN (((old.original_url <> new.original_url) OR ((old.short_code)::text <> (new.short_code)::text) OR ((old.destination <> new.destination) AND (NOT (old.target_url IS DISTINCT FROM new.target_url))))) EXECUTE FUNCTION links_refuse_rewrite();
CREATE TRIGGER links_move_to_default_domain BEFORE DELETE ON domains_domain FOR EACH ROW EXECUTE FUNCTION links_move_to_default_domain();
CREATE TRIGGER links_notify_change AFTER INSERT OR DELETE OR UPDATE ON bans_ban FOR EACH ROW EXECUTE FUNCTION links_notify_ban_changes();
CREATE TRIGGER links_notify_change AFTER INSERT OR DELETE OR UPDATE ON links_linkban FOR EACH ROW EXECUTE FUNCTION links_notify_ban_changes();
CREATE TRIGGER links_notify_delete AFTER DELETE ON domains_domain REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_domain_changes();
CREATE TRIGGER links_notify_delete AFTER DELETE ON links_code REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_code_changes();
CREATE TRIGGER links_notify_update AFTER UPDATE ON domains_domain REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_domain_changes();
CREATE TRIGGER links_notify_update AFTER UPDATE ON links_code REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_code_changes();
CREATE TRIGGER links_notify_update AFTER UPDATE ON links_link REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_notify_link_changes();
CREATE TRIGGER links_record_change AFTER UPDATE ON links_link FOR EACH ROW EXECUTE FUNCTION links_record_change();
CREATE TRIGGER links_record_changed_routes AFTER UPDATE ON links_link FOR EACH ROW WHEN (((old.rules <> new.rules) OR (old.split <> new.split) OR (old.destination <> new.destination))) EXECUTE FUNCTION links_record_routes();
CREATE TRIGGER links_record_new_routes AFTER INSERT ON links_link FOR EACH ROW WHEN (((new.rules <> '[]'::jsonb) OR (new.split <> '[]'::jsonb))) EXECUTE FUNCTION links_record_routes();
CREATE TRIGGER links_searchable_after_truncate AFTER TRUNCATE ON links_link FOR EACH STATEMENT EXECUTE FUNCTION links_searchable_after_truncate();
CREATE TRIGGER links_tags_after_delete AFTER DELETE ON links_link REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION links_tags_after_delete();
CREATE TRIGGER links_tags_after_insert AFTER INSERT ON links_link REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_tags_after_insert();
CREATE TRIGGER links_tags_after_update AFTER UPDATE ON links_link REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION links_tags_after_update();
CREATE TRIGGER qrcodes_after_delete AFTER DELETE ON qrcodes_qrcode FOR EACH ROW EXECUTE FUNCTION qrcodes_after_delete();
CREATE TRIGGER qrcodes_after_final_deletion AFTER DELETE ON links_deletedlink FOR EACH ROW EXECUTE FUNCTION qrcodes_after_final_deletion();
CREATE TRIGGER qrcodes_after_insert AFTER INSERT ON qrcodes_qrcode REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_after_insert();
CREATE TRIGGER qrcodes_after_update AFTER UPDATE ON qrcodes_qrcode REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_after_update();
CREATE TRIGGER qrcodes_bytes_after_delete AFTER DELETE ON qrcodes_qrcode REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION qrcodes_bytes_after_delete();
CREATE TRIGGER qrcodes_deleted_after_change AFTER INSERT OR DELETE ON qrcodes_deletedqrcode FOR EACH ROW EXECUTE FUNCTION qrcodes_deleted_after_change();
ALTER TABLE ONLY account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_apikey
    ADD CONSTRAINT accounts_apikey_user_id_bd902026_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_invitation
    ADD CONSTRAINT accounts_invitation_invited_by_id_94a21efc_fk_accounts_user_id FOREIGN KEY (invited_by_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_invitation
    ADD CONSTRAINT accounts_invitation_workspace_id_7dc693ca_fk_accounts_ FOREIGN KEY (workspace_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_member
    ADD CONSTRAINT accounts_member_user_id_b994c8b6_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_member
    ADD CONSTRAINT accounts_member_workspace_id_d53d5763_fk_accounts_workspace_id FOREIGN KEY (workspace_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_passkeyhandle
    ADD CONSTRAINT accounts_passkeyhandle_user_id_e2866603_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_domain_id_fk_domains_domain_id FOREIGN KEY (domain_id) REFERENCES domains_domain(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_member_fk_accounts_member FOREIGN KEY (workspace_id, user_id) REFERENCES accounts_member(workspace_id, user_id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_user_id_78f86aaa_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_scopedkey
    ADD CONSTRAINT accounts_scopedkey_workspace_id_53377ccb_fk_accounts_ FOREIGN KEY (workspace_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_session
    ADD CONSTRAINT accounts_session_user_id_d5aaed01_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_storedresponse
    ADD CONSTRAINT accounts_storedresponse_owner_id_f5682446_fk_accounts_user_id FOREIGN KEY (owner_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_group_id_bd11a704_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_user_groups
    ADD CONSTRAINT accounts_user_groups_user_id_52b62117_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_p_permission_id_113bb443_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_user_user_permissions
    ADD CONSTRAINT accounts_user_user_p_user_id_e4f0a161_fk_accounts_ FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_workspace
    ADD CONSTRAINT accounts_workspace_account_id_aeadd2bc_fk_accounts_user_id FOREIGN KEY (account_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY bans_ban
    ADD CONSTRAINT bans_ban_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY domains_domain
    ADD CONSTRAINT domains_domain_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY accounts_historysize
    ADD CONSTRAINT historysize_owner FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_clickcounter
    ADD CONSTRAINT links_clickcounter_link_id_76097162_fk_links_link_id FOREIGN KEY (link_id) REFERENCES links_link(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_clickcounter
    ADD CONSTRAINT links_clickcounter_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_code
    ADD CONSTRAINT links_code_domain_id_a856a5cc_fk_domains_domain_id FOREIGN KEY (domain_id) REFERENCES domains_domain(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_code
    ADD CONSTRAINT links_code_link_id_4aa3d6e8_fk_links_link_id FOREIGN KEY (link_id) REFERENCES links_link(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_code
    ADD CONSTRAINT links_code_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_createdlinks
    ADD CONSTRAINT links_createdlinks_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_deletedlink
    ADD CONSTRAINT links_deletedlink_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_link
    ADD CONSTRAINT links_link_creator_id_fk_accounts_user_id FOREIGN KEY (creator_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_link
    ADD CONSTRAINT links_link_domain_id_229b19d6_fk_domains_domain_id FOREIGN KEY (domain_id) REFERENCES domains_domain(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_link
    ADD CONSTRAINT links_link_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_ownertotals
    ADD CONSTRAINT links_ownertotals_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_tagtotals
    ADD CONSTRAINT links_tagtotals_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcode_link FOREIGN KEY (link_id) REFERENCES links_link(id) ON DELETE CASCADE;
ALTER TABLE ONLY qrcodes_qrcode
    ADD CONSTRAINT qrcodes_qrcode_owner_id_fk_accounts_workspace_id FOREIGN KEY (owner_id) REFERENCES accounts_workspace(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_account_id_951f210e_fk_socialacc FOREIGN KEY (account_id) REFERENCES socialaccount_socialaccount(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_app_id_636a42d7_fk_socialacc FOREIGN KEY (app_id) REFERENCES socialaccount_socialapp(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_social_user_id_8146e70c_fk_accounts_ FOREIGN KEY (user_id) REFERENCES accounts_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY links_visitorclicks
    ADD CONSTRAINT visitorclicks_key FOREIGN KEY (link_id) REFERENCES links_visitorkey(link_id) ON DELETE CASCADE;
