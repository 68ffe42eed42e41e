"""Every host hears of each change of what a code or a host means, whoever makes it: NOTIFY, which PostgreSQL delivers
with the commit. What is new is not told: nobody keeps for long that a code is unknown, and a NOTIFY in each creation
would let them commit only one after the other.
"""

from django.db import migrations

TELL = """
CREATE FUNCTION links_tell(changed text[]) RETURNS void LANGUAGE sql AS $$
    SELECT count(pg_notify('destinations', message)) FROM (
        SELECT unnest(changed) WHERE cardinality(changed) <= 500
        UNION ALL SELECT '*' WHERE cardinality(changed) > 500
    ) told (message)
$$;

CREATE FUNCTION links_tell_of_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM links_tell(ARRAY(
        SELECT 'code ' || code FROM links_code JOIN changed ON links_code.link_id = changed.id LIMIT 501
    ));
    RETURN NULL;
END $$;

-- A retired code means nothing, as one that is not there.
CREATE FUNCTION links_tell_of_codes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM links_tell(ARRAY(SELECT 'code ' || code FROM former WHERE kind <> 'retired' LIMIT 501));
    RETURN NULL;
END $$;

CREATE FUNCTION links_tell_of_domains() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM links_tell(ARRAY(SELECT 'host ' || host FROM former LIMIT 501));
    RETURN NULL;
END $$;

CREATE TRIGGER links_tell_updated AFTER UPDATE ON links_link
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION links_tell_of_links();
CREATE TRIGGER links_tell_updated AFTER UPDATE ON links_code
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_tell_of_codes();
CREATE TRIGGER links_tell_deleted AFTER DELETE ON links_code
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_tell_of_codes();
CREATE TRIGGER links_tell_updated AFTER UPDATE ON domains_domain
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_tell_of_domains();
CREATE TRIGGER links_tell_deleted AFTER DELETE ON domains_domain
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_tell_of_domains();
"""
SAY_NOTHING = """
DROP TRIGGER links_tell_deleted ON domains_domain;
DROP TRIGGER links_tell_updated ON domains_domain;
DROP TRIGGER links_tell_deleted ON links_code;
DROP TRIGGER links_tell_updated ON links_code;
DROP TRIGGER links_tell_updated ON links_link;
DROP FUNCTION links_tell_of_domains, links_tell_of_codes, links_tell_of_links, links_tell;
"""


class Migration(migrations.Migration):
    dependencies = [("links", "0003_links_go_home"), ("domains", "0001_initial")]

    operations = [migrations.RunSQL(TELL, SAY_NOTHING)]
