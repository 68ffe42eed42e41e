-- Lists read thousands of links. These rows are a third as long as those of links_link: they are read faster, and more
-- of them stay cached.
CREATE TABLE links_searchable (
    link_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    is_active boolean NOT NULL,
    is_archived boolean NOT NULL,
    tag_keys text[] NOT NULL,
    content text NOT NULL,
    -- 0 rather than null: PostgreSQL does not read an index in order for "IS NULL".
    domain_id bigint NOT NULL DEFAULT 0,
    -- Reports find out whose the links of many clicks are without reading the rows.
    PRIMARY KEY (link_id) INCLUDE (owner_id, domain_id)
);
COMMENT ON TABLE links_searchable IS 'A narrow copy of links_link for lists and searches, maintained by triggers.';
COMMENT ON COLUMN links_searchable.link_id IS 'The link.';
COMMENT ON COLUMN links_searchable.owner_id IS 'The owner.';
COMMENT ON COLUMN links_searchable.created_at IS 'Creation time of the link.';
COMMENT ON COLUMN links_searchable.is_active IS 'The owner''s switch.';
COMMENT ON COLUMN links_searchable.is_archived IS 'Whether lists hide it.';
COMMENT ON COLUMN links_searchable.tag_keys IS 'Case-folded tags.';
COMMENT ON COLUMN links_searchable.content IS 'Title, URLs and codes in lower case.';
COMMENT ON COLUMN links_searchable.domain_id IS 'The domain. 0: the default domain.';
-- A list skips the archived links of an index without reading their rows.
CREATE INDEX links_owner_created ON links_searchable (owner_id, created_at, link_id) INCLUDE (is_archived);
CREATE INDEX links_owner_inactive ON links_searchable (owner_id, created_at, link_id) INCLUDE (is_archived)
    WHERE NOT is_active;
CREATE INDEX links_owner_archived ON links_searchable (owner_id, created_at, link_id) WHERE is_archived;
CREATE INDEX links_owner_domain ON links_searchable (owner_id, domain_id, created_at, link_id) INCLUDE (is_archived);
-- With the title: PostgreSQL reads the row for a column that an index has only in an expression.
CREATE INDEX links_owner_title ON links_link (owner_id, (coalesce(title, '') COLLATE "C"), id) INCLUDE (title)
    WHERE NOT is_archived;
CREATE INDEX links_owner_archived_title ON links_link (owner_id, (coalesce(title, '') COLLATE "C"), id) INCLUDE (title)
    WHERE is_archived;
-- Links that lead to an address. A digest, because a URL can be longer than an entry of an index.
CREATE INDEX links_leads_to ON links_link (hashtextextended(destination, owner_id));

-- The URLs of a link besides original_url and destination, each on a line: the canonical forms, and the entered ones.
-- In PL/pgSQL, because PostgreSQL inlines links_content only without this query.
CREATE FUNCTION links_other_urls(target_url text, destination text, others text[], branches jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN starts_with(destination, target_url) THEN '' ELSE coalesce(E'\n' || target_url, '') END
        || coalesce((SELECT string_agg(E'\n' || url, '') FROM unnest(others) url), '')
        || coalesce((
            SELECT string_agg(E'\n' || (branch ->> 'url'), '') FROM jsonb_array_elements(branches) branch
            WHERE NOT starts_with(branch ->> 'href', branch ->> 'url')
        ), '');
END $$;

CREATE FUNCTION links_content(
    title text, original_url text, target_url text, destination text, others text[], rules jsonb, split jsonb,
    short_code text, custom_code text
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(
        coalesce(title, '') || E'\n' || destination || E'\n'
        || CASE WHEN starts_with(destination, original_url) THEN '' ELSE original_url END || E'\n'
        || short_code || E'\n' || coalesce(custom_code, '')
        || CASE WHEN target_url IS NULL AND cardinality(others) = 0 THEN ''
            ELSE links_other_urls(target_url, destination, others, rules || split) END
    )
$$;

CREATE FUNCTION links_searchable_after_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE links_searchable, links_route, links_formerutm;
    RETURN NULL;
END $$;

CREATE TRIGGER links_searchable_after_truncate AFTER TRUNCATE ON links_link
    FOR EACH STATEMENT EXECUTE FUNCTION links_searchable_after_truncate();

-- The search index has these keys for each link: all sequences of three characters in its content, its owner, its owner
-- with the period of its creation, and its tags. pg_trgm does not suffice: it indexes no terms of one or two characters,
-- no punctuation, and letters beyond ASCII only if the server's locale knows them. It could not restrict a search to one
-- owner either, so it would read every link of other owners that contains the term. Nor could it find the newest matches
-- without finding all.

-- The number of the sixty-day period, counted from 2000. Shorter periods slow down searches for rare terms, longer
-- periods searches for common terms.
CREATE FUNCTION links_period(created_at timestamptz) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ((created_at AT TIME ZONE 'UTC')::date - DATE '2000-01-01') / 60
$$;

-- Splits the content after every third character, in three passes. The remainder at the end of each pass is a key too,
-- so every sequence of one or two characters is the beginning of some key. In PL/pgSQL, because PostgreSQL would inline
-- an SQL function and ignore its COST.
CREATE FUNCTION links_keys(
    owner bigint, period integer, active boolean, archived boolean, tags text[], content text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
BEGIN
    RETURN array_to_tsvector(array_remove(tags || string_to_array(
        '#' || owner::text || E'\x01#' || owner::text || '/' || period::text
        || CASE WHEN active THEN '' ELSE E'\x01#inactive' END
        || CASE WHEN archived THEN E'\x01#archived' ELSE '' END
        || E'\x01' || regexp_replace(content, '(...)', E'\\1\x01', 'g')
        || E'\x01' || regexp_replace(substr(content, 2), '(...)', E'\\1\x01', 'g')
        || E'\x01' || regexp_replace(substr(content, 3), '(...)', E'\\1\x01', 'g'), E'\x01'
    ), ''));
END $$;

-- The query for links that may contain the term and have one of the tags, all of the marks and no excluded tag. The
-- caller compares the matches with the term itself, so every third key of the term is enough. Keys that one of seven
-- codes contains, and keys that the separator splits, are omitted.
CREATE FUNCTION links_hint(marks text[], tags text[], term text, excluded text[] DEFAULT '{}') RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(one_of, ' & ')::tsquery FROM (
        SELECT min(sign) || '(' || string_agg(
            '''' || replace(replace(key, '\', '\\'), '''', '''''') || '''' || suffix, ' | '
        ) || ')'
        FROM (
            SELECT i, substr(term, i, 3), '', '' FROM generate_series(1, length(term) - 3, 3) i
            UNION ALL SELECT 0, right(term, 3), CASE WHEN length(term) < 3 THEN ':*' ELSE '' END, ''
            UNION ALL SELECT -1, tag, '', '' FROM unnest(tags) tag
            UNION ALL SELECT -2, tag, '', '!' FROM unnest(excluded) tag
            UNION ALL SELECT -2 - i, mark, '', '' FROM unnest(marks) WITH ORDINALITY marks (mark, i)
        ) keys (place, key, suffix, sign)
        WHERE place < 0 OR key !~ '^[a-z0-9]?$|\x01'
        GROUP BY place
    ) all_of (one_of)
$$;

CREATE INDEX links_search ON links_searchable
    USING gin (links_keys(owner_id, links_period(created_at), is_active, is_archived, tag_keys, content));
-- No statistics: ANALYZE would compute the keys of many thousand links, and no plan depends on them.
ALTER INDEX links_search ALTER COLUMN 1 SET STATISTICS 0;
