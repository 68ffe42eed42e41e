-- Keys that are limited to a domain, and the history of keys, which names their domains.

-- The deletion of a domain deletes the keys that are limited to it. Without the limit, they could do more.
ALTER TABLE accounts_scopedkey ADD CONSTRAINT accounts_scopedkey_domain_id_fk_domains_domain_id
    FOREIGN KEY (domain_id) REFERENCES domains_domain (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX scopedkey_domain ON accounts_scopedkey (domain_id) WHERE domain_id IS NOT NULL;

CREATE FUNCTION domains_moment(moment timestamptz) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN replace(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z');
END $$;

-- The scopes are in the order of their bits.
CREATE FUNCTION domains_key_fields(key accounts_scopedkey) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
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

CREATE FUNCTION domains_record_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER domains_record_key AFTER INSERT OR DELETE ON accounts_scopedkey FOR EACH ROW
    EXECUTE FUNCTION domains_record_key_change();
CREATE TRIGGER domains_record_changed_key AFTER UPDATE ON accounts_scopedkey FOR EACH ROW WHEN (
    (OLD.name, OLD.scopes, OLD.domain_id, OLD.only_own, OLD.expires_at, OLD.digest) IS DISTINCT FROM
    (NEW.name, NEW.scopes, NEW.domain_id, NEW.only_own, NEW.expires_at, NEW.digest)
) EXECUTE FUNCTION domains_record_key_change();
