"""Links outlive the domain that they are on: they come home to the default one, whoever deletes the domain."""

from django.db import migrations

# Every other writer takes the domain's row before a link's, and a link's before its codes'; so does this, whose
# trigger is run once the domain's row is locked. Until the commit nobody can put a link on the domain.
GO_HOME = """
CREATE FUNCTION links_go_home() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    dropped bigint;
BEGIN
    PERFORM FROM links_link WHERE domain_id = OLD.id ORDER BY id FOR NO KEY UPDATE;

    -- Holds that are over, or that an owner of these links may take up, keep no code from coming home.
    DELETE FROM links_code held USING links_code c JOIN links_link l ON l.id = c.link_id
    WHERE c.domain_id = OLD.id AND c.kind IN ('custom', 'alias')
      AND held.domain_id IS NULL AND held.code = c.code AND held.kind = 'retired'
      AND (held.held_until < now() OR held.owner_id = l.owner_id);

    -- By their codes, which an index finds whatever the planner knows of the table.
    UPDATE links_code home SET kind = 'short' FROM links_link l
    WHERE l.domain_id = OLD.id AND home.domain_id IS NULL AND home.code = l.short_code AND home.link_id = l.id;

    WITH going AS (
        SELECT code, kind, link_id FROM links_code WHERE domain_id = OLD.id AND kind IN ('custom', 'alias')
    ), settled AS (
        -- In the order of the codes, so that two domains that go at once cannot wait for each other.
        INSERT INTO links_code (domain_id, code, kind, link_id)
        SELECT NULL, code, kind, link_id FROM going ORDER BY code
        ON CONFLICT DO NOTHING RETURNING 1
    )
    SELECT (SELECT count(*) FROM going) - (SELECT count(*) FROM settled) INTO dropped;

    DELETE FROM links_code WHERE domain_id = OLD.id;

    UPDATE links_link l SET domain_id = NULL, updated_at = now(), custom_code = (
        SELECT c.code FROM links_code c WHERE c.domain_id IS NULL AND c.code = l.custom_code AND c.link_id = l.id
    )
    WHERE l.domain_id = OLD.id;

    PERFORM set_config('domains.codes_dropped', dropped::text, true);
    RETURN OLD;
END $$;

CREATE TRIGGER links_go_home BEFORE DELETE ON domains_domain FOR EACH ROW EXECUTE FUNCTION links_go_home();
"""
STAY = "DROP TRIGGER links_go_home ON domains_domain; DROP FUNCTION links_go_home;"


class Migration(migrations.Migration):
    dependencies = [("links", "0002_kept_by_the_database"), ("domains", "0001_initial")]

    operations = [migrations.RunSQL(GO_HOME, STAY)]
