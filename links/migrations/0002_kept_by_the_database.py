"""What the database keeps true by itself, whichever way a row is written: the API, the admin, COPY or SQL by hand."""

from django.db import migrations

# What lists read of links by the thousand: rows a third as long as the links' own are read faster, and stay cached.
SEARCHABLE = """
CREATE TABLE links_searchable (
    link_id bigint PRIMARY KEY,
    owner_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    is_active boolean NOT NULL,
    tag_keys text[] NOT NULL,
    content text NOT NULL
);
CREATE INDEX links_owner_created ON links_searchable (owner_id, created_at, link_id);
CREATE INDEX links_owner_inactive ON links_searchable (owner_id, created_at, link_id) WHERE NOT is_active;
CREATE INDEX links_owner_title ON links_link (owner_id, (coalesce(title, '') COLLATE "C"), id);

CREATE FUNCTION links_content(title text, original_url text, destination text, short_code text, custom_code text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(
        coalesce(title, '') || E'\\n' || destination || E'\\n'
        || CASE WHEN starts_with(destination, original_url) THEN '' ELSE original_url END || E'\\n'
        || short_code || E'\\n' || coalesce(custom_code, '')
    )
$$;

CREATE FUNCTION links_searchable_after_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE links_searchable;
    RETURN NULL;
END $$;

CREATE TRIGGER links_searchable_after_truncate AFTER TRUNCATE ON links_link
    FOR EACH STATEMENT EXECUTE FUNCTION links_searchable_after_truncate();
"""
SEARCHABLE_BACK = """
DROP TRIGGER links_searchable_after_truncate ON links_link;
DROP FUNCTION links_searchable_after_truncate, links_content;
DROP INDEX links_owner_title;
DROP TABLE links_searchable;
"""

COUNTERS = """
ALTER TABLE links_clickcounter ALTER COLUMN clicks SET DEFAULT 0;
-- The slots' rows are rewritten at every link and click: room in the page makes that cheap (HOT).
ALTER TABLE links_ownertotals SET (fillfactor = 50);

CREATE FUNCTION links_after_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO links_clickcounter (link_id, owner_id, clicks) SELECT id, owner_id, 0 FROM added;
    INSERT INTO links_searchable (link_id, owner_id, created_at, is_active, tag_keys, content)
    SELECT id, owner_id, created_at, is_active, tag_keys,
        links_content(title, original_url, destination, short_code, custom_code)
    FROM added;
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks)
    SELECT owner_id, id % 8, count(*), count(*) FILTER (WHERE is_active), 0 FROM added GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE
        SET links = t.links + EXCLUDED.links, active_links = t.active_links + EXCLUDED.active_links;
    RETURN NULL;
END $$;

CREATE FUNCTION links_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE links_searchable s
    SET owner_id = now.owner_id, created_at = now.created_at, is_active = now.is_active, tag_keys = now.tag_keys,
        content = now.content
    FROM (
        SELECT *, links_content(title, original_url, destination, short_code, custom_code) AS content FROM changed
    ) now
    WHERE s.link_id = now.id AND (s.owner_id, s.created_at, s.is_active, s.tag_keys, s.content)
        IS DISTINCT FROM (now.owner_id, now.created_at, now.is_active, now.tag_keys, now.content);
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks)
    SELECT now.owner_id, now.id % 8, 0, sum(now.is_active::int - before.is_active::int), 0
    FROM changed now JOIN former before ON before.id = now.id AND before.is_active <> now.is_active
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET active_links = t.active_links + EXCLUDED.active_links;
    RETURN NULL;
END $$;

CREATE FUNCTION links_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM links_searchable s USING former WHERE s.link_id = former.id;
    -- An update, as the owner may be going too; locked in order, as two such statements may meet.
    WITH gone AS (
        SELECT owner_id, (id % 8)::smallint AS slot, count(*) AS links, count(*) FILTER (WHERE is_active) AS active
        FROM former GROUP BY 1, 2
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN gone USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET links = t.links - gone.links, active_links = t.active_links - gone.active
    FROM gone JOIN locked USING (owner_id, slot) WHERE t.owner_id = gone.owner_id AND t.slot = gone.slot;
    RETURN NULL;
END $$;

CREATE FUNCTION links_clicks_after_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO links_ownertotals AS t (owner_id, slot, links, active_links, clicks)
    SELECT now.owner_id, now.link_id % 8, 0, 0, sum(now.clicks - before.clicks)
    FROM changed now JOIN former before ON before.link_id = now.link_id AND before.clicks <> now.clicks
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (owner_id, slot) DO UPDATE SET clicks = t.clicks + EXCLUDED.clicks;
    RETURN NULL;
END $$;

CREATE FUNCTION links_clicks_after_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (
        SELECT owner_id, (link_id % 8)::smallint AS slot, sum(clicks) AS clicks FROM former
        GROUP BY 1, 2 HAVING sum(clicks) > 0
    ), locked AS (
        SELECT t.owner_id, t.slot FROM links_ownertotals t JOIN gone USING (owner_id, slot)
        ORDER BY 1, 2 FOR UPDATE OF t
    )
    UPDATE links_ownertotals t SET clicks = t.clicks - gone.clicks
    FROM gone JOIN locked USING (owner_id, slot) WHERE t.owner_id = gone.owner_id AND t.slot = gone.slot;
    RETURN NULL;
END $$;

CREATE TRIGGER links_after_insert AFTER INSERT ON links_link
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION links_after_insert();
CREATE TRIGGER links_after_update AFTER UPDATE ON links_link
    REFERENCING OLD TABLE AS former NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION links_after_update();
CREATE TRIGGER links_after_delete AFTER DELETE ON links_link
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_after_delete();
CREATE TRIGGER links_clicks_after_update AFTER UPDATE ON links_clickcounter
    REFERENCING OLD TABLE AS former NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_update();
CREATE TRIGGER links_clicks_after_delete AFTER DELETE ON links_clickcounter
    REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION links_clicks_after_delete();
"""

COUNTERS_BACK = """
DROP TRIGGER links_clicks_after_delete ON links_clickcounter;
DROP TRIGGER links_clicks_after_update ON links_clickcounter;
DROP TRIGGER links_after_delete ON links_link;
DROP TRIGGER links_after_update ON links_link;
DROP TRIGGER links_after_insert ON links_link;
DROP FUNCTION links_clicks_after_delete, links_clicks_after_update, links_after_delete, links_after_update,
    links_after_insert;
"""

# A link that suddenly leads elsewhere is how shorteners have been abused (Cligs, 2009: 2.2 million links rewritten).
IMMUTABLE = """
CREATE FUNCTION links_refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'original_url, destination and short_code of a link cannot be changed';
END $$;
CREATE TRIGGER links_immutable BEFORE UPDATE OF original_url, destination, short_code ON links_link
    FOR EACH ROW WHEN (
        OLD.original_url <> NEW.original_url OR OLD.destination <> NEW.destination OR OLD.short_code <> NEW.short_code
    ) EXECUTE FUNCTION links_refuse_rewrite();
"""
IMMUTABLE_BACK = "DROP TRIGGER links_immutable ON links_link; DROP FUNCTION links_refuse_rewrite;"

# Every three characters that follow each other are a key of the link, and so are its owner, its owner's period and its
# tags. pg_trgm knows no term of one or two characters, none of punctuation, and letters beyond ASCII only where the
# server's locale does; nor would it keep the search of one owner from reading all the links of others that hold the
# same term, or find the newest without finding all.
SEARCH = """
-- Sixty days, counted from 2000. Shorter ones make what is rare slow to find, longer ones what is common.
CREATE FUNCTION links_period(created_at timestamptz) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ((created_at AT TIME ZONE 'UTC')::date - DATE '2000-01-01') / 60
$$;

-- Split after every third character, in three passes: what remains at the end of each is a key too, so that every one
-- or two characters begin some key. In PL/pgSQL, as an SQL function would be inlined and its cost forgotten.
CREATE FUNCTION links_keys(owner bigint, period integer, active boolean, tags text[], content text)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(tags || string_to_array(
        '#' || owner::text || E'\\x01#' || owner::text || '/' || period::text
        || CASE WHEN active THEN '' ELSE E'\\x01#inactive' END
        || E'\\x01' || regexp_replace(content, '(...)', E'\\\\1\\x01', 'g')
        || E'\\x01' || regexp_replace(substr(content, 2), '(...)', E'\\\\1\\x01', 'g')
        || E'\\x01' || regexp_replace(substr(content, 3), '(...)', E'\\\\1\\x01', 'g'), E'\\x01'
    ), ''));
END $$;

-- What the keys of links must be that hold the term, one of the tags and all of the marks. A hint: what is found is then
-- compared with the term itself. So every third key of it is enough, and those are left out that are in every seventh
-- code anyway or that the separator has torn.
CREATE FUNCTION links_hint(marks text[], tags text[], term text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(one_of, ' & ')::tsquery FROM (
        SELECT '(' || string_agg(
            '''' || replace(replace(key, '\\', '\\\\'), '''', '''''') || '''' || suffix, ' | '
        ) || ')'
        FROM (
            SELECT i, substr(term, i, 3), '' FROM generate_series(1, length(term) - 3, 3) i
            UNION ALL SELECT 0, right(term, 3), CASE WHEN length(term) < 3 THEN ':*' ELSE '' END
            UNION ALL SELECT -1, tag, '' FROM unnest(tags) tag
            UNION ALL SELECT -1 - i, mark, '' FROM unnest(marks) WITH ORDINALITY marks (mark, i)
        ) keys (place, key, suffix)
        WHERE place < 0 OR key !~ '^[a-z0-9]?$|\\x01'
        GROUP BY place
    ) all_of (one_of)
$$;

CREATE INDEX links_search ON links_searchable
    USING gin (links_keys(owner_id, links_period(created_at), is_active, tag_keys, content));
-- No statistics: gathering them would compute the keys of many thousand links, and nothing is decided by them.
ALTER INDEX links_search ALTER COLUMN 1 SET STATISTICS 0;
"""
SEARCH_BACK = "DROP INDEX links_search; DROP FUNCTION links_keys, links_hint, links_period;"


class Migration(migrations.Migration):
    dependencies = [("links", "0001_initial")]

    operations = [
        migrations.RunSQL(SEARCHABLE, SEARCHABLE_BACK),
        migrations.RunSQL(COUNTERS, COUNTERS_BACK),
        migrations.RunSQL(IMMUTABLE, IMMUTABLE_BACK),
        migrations.RunSQL(SEARCH, SEARCH_BACK),
    ]
