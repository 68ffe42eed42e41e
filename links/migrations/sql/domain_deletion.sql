-- The deletion of a domain moves its links to the default domain. A custom code or alias that is taken there is dropped;
-- the setting domains.codes_dropped reports how many.
--
-- Every writer locks the domain's row before its links, and a link before its codes. PostgreSQL runs this trigger when
-- the domain's row is locked, so it keeps that order. Until the commit, no transaction can put a link on the domain.
--
-- Custom plans: a session that has deleted a few domains would otherwise reuse a plan for few links.
CREATE FUNCTION links_move_to_default_domain() RETURNS trigger LANGUAGE plpgsql
SET plan_cache_mode = force_custom_plan AS $$
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

CREATE TRIGGER links_move_to_default_domain BEFORE DELETE ON domains_domain
    FOR EACH ROW EXECUTE FUNCTION links_move_to_default_domain();
