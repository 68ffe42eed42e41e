"""Counts the links and accounts that a ban would affect. Quick for any number of links: the count stops at a limit."""

from __future__ import annotations

from django.db import OperationalError, connection, transaction

from accounts.models import Workspace
from bans.selectors import Affected
from links.listing.searches import REACH, selective_part
from links.selectors import fetch, totals

# An operator needs the magnitude, not the exact number.
COUNT_LIMIT = 1_000
# Less than the time limit of statements in requests.
COUNT_MILLISECONDS = 1_500
_QUERY_CANCELED = "57014"
# As in `links.operators.search`: scan the newest links for a common host, and look up a rare one in the search
# index, which has parts of the content as its keys.
_TO_HOST = """EXISTS (
    SELECT FROM unnest(l.other_destinations || l.destination) url WHERE %(host)s = ANY(bans_hosts_of(url))
)"""
_OF_HOST = f"""
WITH near AS MATERIALIZED (
    SELECT s.link_id, s.owner_id FROM (SELECT * FROM links_searchable ORDER BY link_id DESC LIMIT %(reach)s) s
    JOIN links_link l ON l.id = s.link_id
    WHERE strpos(s.content, %(host)s) > 0 AND {_TO_HOST}
    LIMIT %(limit)s + 1
), blocked AS (
    SELECT owner_id FROM near WHERE (SELECT count(*) FROM near) > %(limit)s
    UNION ALL
    SELECT owner_id FROM (
        SELECT s.owner_id FROM links_searchable s JOIN links_link l ON l.id = s.link_id
        WHERE links_keys(s.owner_id, links_period(s.created_at), s.is_active, s.tag_keys, s.content)
                @@ links_hint('{{}}'::text[], '{{}}'::text[], %(term)s)
            AND strpos(s.content, %(host)s) > 0 AND {_TO_HOST}
        LIMIT %(limit)s + 1
    ) everything WHERE (SELECT count(*) FROM near) <= %(limit)s
)
SELECT count(*), count(DISTINCT owner_id) FROM blocked
"""  # noqa: S608 # composed of constants


def affected_by_host(host: str) -> Affected | None:
    """The links that can lead to a canonical host or the hosts below it, at most ``COUNT_LIMIT``.

    None if counting takes too long. Does not count links to the IPv6 form of an IPv4 address, which the ban includes,
    because the index contains the text of the URL. Call it outside any transaction.
    """
    values = {"host": host, "term": selective_part(host), "limit": COUNT_LIMIT, "reach": REACH}
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {COUNT_MILLISECONDS}")
            [(links, accounts)] = fetch(_OF_HOST, values)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != _QUERY_CANCELED:
            raise
        return None
    return Affected(min(links, COUNT_LIMIT), accounts, is_complete=links <= COUNT_LIMIT)


def affected_by_account(owner: Workspace) -> Affected:
    return Affected(totals(owner).links, 1)
