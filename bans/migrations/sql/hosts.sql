-- In PL/pgSQL, so that a URL is parsed once and not for every row of the table.

-- The host of a canonical URL and all domains above it: a.b.example gives a.b.example, b.example and example.
-- An IPv4 address in IPv6 form, such as [::ffff:c000:207], also gives the address itself: 192.0.2.7.
CREATE FUNCTION bans_hosts_of(url text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    host text := rtrim(substring(url FROM '^[a-z]+://(\[[^]]*\]|[^/:?#]*)'), '.');
    labels text[] := string_to_array(host, '.');
    words text[] := regexp_match(host, '^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$');
    bytes bytea;
BEGIN
    IF words IS NOT NULL THEN
        bytes := decode(lpad(words[1], 4, '0') || lpad(words[2], 4, '0'), 'hex');
        RETURN ARRAY[host, concat_ws(
            '.', get_byte(bytes, 0), get_byte(bytes, 1), get_byte(bytes, 2), get_byte(bytes, 3)
        )];
    END IF;
    RETURN ARRAY(SELECT array_to_string(labels[i:], '.') FROM generate_subscripts(labels, 1) i);
END $$;

CREATE FUNCTION bans_is_host_banned(url text) RETURNS boolean LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
    hosts text[];
BEGIN
    IF NOT EXISTS (SELECT FROM bans_ban WHERE host IS NOT NULL) THEN
        RETURN false;
    END IF;
    hosts := bans_hosts_of(url);
    RETURN EXISTS (SELECT FROM bans_ban WHERE host = ANY(hosts));
END $$;
