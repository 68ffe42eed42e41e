-- Events of links. Most statements change links of workspaces that do not listen: they ask first.

-- What the events of a link say of it, with the names of the API.
CREATE FUNCTION links_event_data(link links_link) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    found domains_domain;
BEGIN
    IF link.domain_id IS NOT NULL THEN
        SELECT * INTO found FROM domains_domain WHERE id = link.domain_id;
    END IF;
    RETURN jsonb_build_object(
        'id', link.public_id, 'domainId', coalesce(found.public_id::text, 'base'), 'domain', found.host,
        'shortCode', link.short_code, 'customCode', link.custom_code, 'originalUrl', link.original_url,
        'targetUrl', link.target_url, 'title', link.title, 'tags', link.tags, 'externalId', link.external_id,
        'isActive', link.is_active, 'startsAt', accounts_moment(link.starts_at),
        'expiresAt', accounts_moment(link.expires_at), 'maxClicks', link.max_clicks
    );
END $$;

-- An event of each of these links whose workspace listens, with the further data.
CREATE FUNCTION links_emit(of_type text, links bigint[], further jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
    INSERT INTO events_event (position, workspace_id, type, link_id, data)
    SELECT events_position(), l.owner_id, of_type, l.id, jsonb_build_object('link', links_event_data(l)) || further
    FROM links_link l WHERE l.id = ANY (links) AND events_listens(l.owner_id, of_type) ORDER BY l.id;
END $$;

-- The history has one row for each change of a link, and none of its creation. Neither workspace of a move learns the
-- other: for one of them the link is deleted, and for the other it is created.
CREATE FUNCTION links_emit_change(change accounts_change) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    of_type text := CASE change.action
        WHEN 'link.moved_out' THEN 'link.deleted'
        WHEN 'link.moved_in' THEN 'link.created'
        WHEN 'workspace.banned' THEN 'link.banned'
        ELSE change.action
    END;
    link bigint;
BEGIN
    IF NOT events_listens(change.owner_id, of_type) THEN
        RETURN;
    END IF;
    -- A ban of all links is one event.
    IF change.action <> 'workspace.banned' THEN
        link := (SELECT id FROM links_link WHERE public_id = change.object_id);
    END IF;
    CASE change.action
    WHEN 'link.updated' THEN
        PERFORM links_emit(of_type, ARRAY[link], jsonb_build_object('before', change.before, 'after', change.after));
    WHEN 'link.moved_out' THEN
        PERFORM events_emit(change.owner_id, of_type, link, jsonb_build_object('link', (
            SELECT jsonb_object_agg(name, change.before -> name) FROM unnest(ARRAY[
                'domainId', 'shortCode', 'customCode', 'originalUrl', 'targetUrl', 'title', 'tags', 'externalId',
                'isActive', 'startsAt', 'expiresAt'
            ]) name
        ) || jsonb_build_object(
            'id', change.object_id, 'maxClicks', change.before #> '{restrictions,maxClicks}',
            'domain', (SELECT host FROM domains_domain WHERE public_id::text = change.before ->> 'domainId')
        )));
    WHEN 'workspace.banned' THEN
        PERFORM events_emit(change.owner_id, of_type, NULL, '{"link": null}');
    ELSE
        PERFORM links_emit(of_type, ARRAY[link]);
    END CASE;
END $$;

CREATE FUNCTION links_emit_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF events_listens(NEW.owner_id, 'link.deleted') THEN
        PERFORM events_emit(NEW.owner_id, 'link.deleted', NEW.link_id, jsonb_build_object(
            'link', links_event_data(jsonb_populate_record(NULL::links_link, NEW.link))
        ));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER links_emit_deletion AFTER INSERT ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION links_emit_deletion();

-- If the link exists, it has come back.
CREATE FUNCTION links_emit_restoration() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM events_listener) THEN
        PERFORM links_emit('link.restored', ARRAY[OLD.link_id]);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER links_emit_restoration AFTER DELETE ON links_deletedlink
    FOR EACH ROW EXECUTE FUNCTION links_emit_restoration();

-- ``added``: the clicks that each of these links has got.
CREATE FUNCTION links_emit_reached_limits(links bigint[], added bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
    PERFORM links_emit('link.limit_reached', ARRAY(
        SELECT l.id FROM unnest(links, added) changed (link_id, clicks)
        JOIN links_link l ON l.id = changed.link_id AND l.id = ANY (links)
        JOIN links_clickcounter c ON c.link_id = l.id
        WHERE c.clicks >= l.max_clicks AND c.clicks - changed.clicks < l.max_clicks
    ));
END $$;

-- Times that pass without a change: the clock emits the next ones, in the order of time and link. Its lock waits for
-- transactions that change such times, and those that begin to commit wait for it. So each time is either seen by the
-- clock or sees that the clock has passed.
CREATE FUNCTION links_emit_passed(of_type text, moment text, until timestamptz, most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    since events_clock;
    passed bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(5823148);
    SELECT * INTO since FROM events_clock WHERE type = of_type;
    EXECUTE format($sql$
        WITH due AS MATERIALIZED (
            SELECT l.id, l.%1$I AS moment FROM links_link l JOIN events_listener e ON e.workspace_id = l.owner_id
            WHERE l.%1$I IS NOT NULL AND (l.%1$I, l.id) > ($1, $2) AND l.%1$I <= $3
                AND $4 = ANY (e.feed_types || e.webhook_types)
            ORDER BY l.%1$I, l.id LIMIT $5
        ), emitted AS (SELECT links_emit($4, ARRAY(SELECT id FROM due ORDER BY moment, id))),
        last AS (SELECT moment, id FROM due ORDER BY moment DESC, id DESC LIMIT 1)
        UPDATE events_clock c SET
            reached = CASE WHEN total < $5 THEN $3 ELSE (SELECT moment FROM last) END,
            link_id = CASE WHEN total < $5 THEN 9223372036854775807 ELSE (SELECT id FROM last) END
        FROM (SELECT count(*) AS total FROM due) counted, emitted WHERE c.type = $4 RETURNING total
    $sql$, moment) INTO passed USING since.reached, since.link_id, until, of_type, most;
    RETURN passed;
END $$;

-- A time that the clock has passed before the commit: it was still ahead when the change was made, or the change ended
-- an open link.
CREATE FUNCTION links_emit_missed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    clock events_clock;
    former timestamptz;
    latest timestamptz;
BEGIN
    IF NOT EXISTS (SELECT FROM events_listener WHERE workspace_id = NEW.owner_id) THEN
        RETURN NULL;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(5823148);
    FOR clock IN SELECT * FROM events_clock WHERE type IN ('link.started', 'link.expired') LOOP
        latest := CASE clock.type WHEN 'link.started' THEN NEW.starts_at ELSE NEW.expires_at END;
        CONTINUE WHEN latest IS NULL OR (latest, NEW.id) > (clock.reached, clock.link_id);
        IF TG_OP = 'UPDATE' THEN
            former := CASE clock.type WHEN 'link.started' THEN OLD.starts_at ELSE OLD.expires_at END;
            CONTINUE WHEN (former, NEW.id) <= (clock.reached, clock.link_id);
        ELSE
            CONTINUE WHEN latest <= now();
        END IF;
        CONTINUE WHEN clock.type = 'link.started' AND latest <= now() AND former IS NULL;
        PERFORM links_emit(clock.type, ARRAY[NEW.id]);
    END LOOP;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER links_emit_missed_of_new AFTER INSERT ON links_link DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.expires_at IS NOT NULL OR NEW.starts_at IS NOT NULL) EXECUTE FUNCTION links_emit_missed();
CREATE CONSTRAINT TRIGGER links_emit_missed AFTER UPDATE OF expires_at, starts_at ON links_link DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (
        NEW.expires_at IS DISTINCT FROM OLD.expires_at OR NEW.starts_at IS DISTINCT FROM OLD.starts_at
    ) EXECUTE FUNCTION links_emit_missed();
CREATE INDEX link_ends ON links_link (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX link_starts ON links_link (starts_at, id) WHERE starts_at IS NOT NULL;
