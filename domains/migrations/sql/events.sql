-- Events of domains: of each verification, of the first failed check of an active domain, and of its end.
CREATE FUNCTION domains_emit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM events_emit(
        NEW.owner_id,
        CASE WHEN NEW.status = 'inactive' THEN 'domain.inactive' WHEN NEW.failed_checks > 0 THEN 'domain.failing'
            ELSE 'domain.verified' END,
        NULL,
        jsonb_build_object('domain', jsonb_build_object(
            'id', NEW.public_id, 'fullDomain', NEW.host, 'status', NEW.status
        ))
    );
    RETURN NULL;
END $$;
CREATE TRIGGER domains_emit AFTER UPDATE ON domains_domain FOR EACH ROW WHEN (
    OLD.status <> NEW.status AND NEW.status <> 'pending'
    OR NEW.status = 'active' AND OLD.failed_checks = 0 AND NEW.failed_checks > 0
) EXECUTE FUNCTION domains_emit();
CREATE TRIGGER domains_emit_new AFTER INSERT ON domains_domain FOR EACH ROW
    WHEN (NEW.status = 'active') EXECUTE FUNCTION domains_emit();
