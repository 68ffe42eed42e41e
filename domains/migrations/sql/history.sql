CREATE FUNCTION domains_fields(domain domains_domain) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN jsonb_build_object(
        'status', domain.status, 'rootUrl', domain.root_url, 'notFoundUrl', domain.not_found_url,
        'expiredUrl', domain.expired_url
    );
END $$;

CREATE FUNCTION domains_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER domains_record_change AFTER INSERT OR DELETE ON domains_domain
    FOR EACH ROW EXECUTE FUNCTION domains_record_change();
-- The history does not record the times of checks.
CREATE TRIGGER domains_record_update AFTER UPDATE ON domains_domain FOR EACH ROW WHEN (
    (OLD.status, OLD.root_url, OLD.not_found_url, OLD.expired_url) IS DISTINCT FROM
    (NEW.status, NEW.root_url, NEW.not_found_url, NEW.expired_url)
) EXECUTE FUNCTION domains_record_change();
