-- The history of links: a row for each change and each deletion, with the names and values of the API, so that a client
-- can send former values back. A trigger records every change, whichever program makes it. Creating a link writes no row.
--
-- tests/links/history/test_recorded_fields.py compares these functions with the responses of the API.

-- Formats a time as the API does.
CREATE FUNCTION links_moment(moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z');
END $$;

-- The rules or the split, without internal fields.
CREATE FUNCTION links_shown_branches(branches jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF branches = '[]' THEN
        RETURN branches;
    END IF;
    RETURN (
        SELECT jsonb_agg(entry - ARRAY['number', 'href'] ORDER BY place)
        FROM jsonb_array_elements(branches) WITH ORDINALITY entries (entry, place)
    );
END $$;

-- All fields that can change, except the password and the domain.
CREATE FUNCTION links_fields(link links_link) RETURNS jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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

CREATE FUNCTION links_domain_id(identifier bigint) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN coalesce((SELECT public_id::text FROM domains_domain WHERE id = identifier), 'base');
END $$;

-- Generic plans: the deletion of a domain forces custom plans, and would plan every statement again for each of its links.
CREATE FUNCTION links_record_change() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
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
CREATE TRIGGER links_record_change AFTER UPDATE ON links_link FOR EACH ROW EXECUTE FUNCTION links_record_change();

CREATE FUNCTION links_all_fields(link links_link) RETURNS jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN links_fields(link)
        || jsonb_build_object(
            'originalUrl', link.original_url, 'shortCode', link.short_code,
            'domainId', links_domain_id(link.domain_id)
        )
        || CASE WHEN link.password IS NULL THEN '{}'::jsonb ELSE '{"password": "set"}' END;
END $$;

-- No trigger calls this function: the deletion of an account deletes its links and their history.
CREATE FUNCTION links_record_deletion(link links_link) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM accounts_record_change(link.owner_id, link.public_id, 'link.deleted', links_all_fields(link), '{}');
END $$;

CREATE FUNCTION links_record_undeletion(link links_link) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM accounts_record_change(
        link.owner_id, link.public_id, 'link.undeleted', '{}', links_all_fields(link), changed_at => link.updated_at
    );
END $$;
