"""Links for operators: finds them, stops single ones, counts what a ban would stop, and tells the owners of a ban.

Every query uses an index, however many links exist, or stops at a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from accounts.history import author, record_change
from accounts.models import Workspace
from bans.models import Ban
from bans.services import Affected
from common.database import fetch
from common.host import cache_versions
from common.ids import parse_public_id
from links.availability import Status
from links.models import Link, LinkBan, LinkQuerySet
from links.search_index import SEARCH_KEYS, selective_part
from links.searches import FETCH_LIMIT, REACH
from links.selectors import totals

# The index on codes begins with the domain, so the query looks up the code on every domain.
_BY_CODE = """
SELECT link_id FROM links_code WHERE code = %(text)s AND domain_id IS NULL AND link_id IS NOT NULL
UNION
SELECT c.link_id FROM domains_domain d JOIN links_code c ON c.domain_id = d.id
WHERE c.code = %(text)s AND c.link_id IS NOT NULL
"""
# The newest links of each workspace that the account owns: sorting all of them would read every link.
_BY_OWNER = """
SELECT s.link_id FROM accounts_user u JOIN accounts_member m ON m.user_id = u.id AND m.role = 'owner',
LATERAL (
    SELECT link_id, created_at FROM links_searchable
    WHERE owner_id = m.workspace_id ORDER BY created_at DESC, link_id DESC LIMIT %(limit)s
) s
WHERE u.email = lower(%(text)s) ORDER BY s.created_at DESC, s.link_id DESC LIMIT %(limit)s
"""
# Scan the newest links for a common text. Look up a rare text in the search index, across all owners.
_BY_CONTENT = f"""
WITH near AS MATERIALIZED (
    SELECT s.link_id FROM (SELECT * FROM links_searchable ORDER BY link_id DESC LIMIT %(reach)s) s
    WHERE strpos(s.content, lower(%(text)s)) > 0 LIMIT %(limit)s
)
SELECT link_id FROM near WHERE (SELECT count(*) FROM near) = %(limit)s
UNION ALL
SELECT link_id FROM (
    SELECT s.link_id FROM links_searchable s
    WHERE {SEARCH_KEYS}
            @@ links_hint('{{}}'::text[], '{{}}'::text[], lower(%(term)s))
        AND strpos(s.content, lower(%(text)s)) > 0
    LIMIT %(limit)s
) everything WHERE (SELECT count(*) FROM near) < %(limit)s
"""  # noqa: S608 # composed of constants
# The narrow copy has a partial index on inactive links.
_INACTIVE = "SELECT link_id FROM links_searchable WHERE NOT is_active ORDER BY link_id DESC LIMIT 10000"
# Those of the index link_closable.
_CLOSABLE = """
SELECT id FROM links_link
WHERE NOT is_active OR starts_at IS NOT NULL OR expires_at IS NOT NULL OR max_clicks IS NOT NULL
ORDER BY id DESC LIMIT 10000
"""
_SHORTEST = 3


def ids_of_links(text: str) -> list[int]:
    """Primary keys of the links with this id or code. Several domains may use the same code."""
    identifier = parse_public_id(text)
    if identifier is not None:
        return list(Link.objects.filter(public_id=identifier).values_list("pk", flat=True))
    return [link_id for (link_id,) in fetch(_BY_CODE, {"text": text})]


def find_links(links: QuerySet[Link], text: str) -> QuerySet[Link]:
    """Filter by an id, a whole current or former code, an owner's e-mail, or part of a destination or title.

    A search by part returns at most ``FETCH_LIMIT`` links.
    """
    values = {"text": text, "term": selective_part(text), "limit": FETCH_LIMIT, "reach": REACH}
    link_ids = ids_of_links(text)
    if "@" in text:
        link_ids += [link_id for (link_id,) in fetch(_BY_OWNER, values)]
    elif len(text) >= _SHORTEST:
        link_ids += [link_id for (link_id,) in fetch(_BY_CONTENT, values)]
    return links.filter(pk__in=link_ids)


def inactive_links(links: QuerySet[Link]) -> QuerySet[Link]:
    """The newest links that their owners deactivated."""
    return links.filter(pk__in=RawSQL(_INACTIVE, []))  # noqa: S611 # a constant


def closed_links(links: LinkQuerySet, status: Status) -> QuerySet[Link]:
    """The newest links that are closed by a time or the limit of their clicks."""
    return links.filter(pk__in=RawSQL(_CLOSABLE, [])).in_state(status)  # noqa: S611 # a constant


def status_in_words(link: Link) -> str:
    """Describe the status as owners see it, and a legal ban. The link is of `LinkQuerySet.with_bans`."""
    status = link.status.replace("_", " ")
    return f"{status} (legal)" if link.ban_reason == "legal" else status


def ban_link(*, link: Link, reason: str = "") -> LinkBan:
    """Deactivate a link so that its owner cannot reactivate it. Returns the existing ban if there is one."""
    with transaction.atomic():
        ban, is_new = LinkBan.objects.get_or_create(link=link, defaults={"reason": reason})
        if is_new:
            _record("link.banned", link)
    cache_versions.bump_all()
    return ban


def lift_ban(*, ban: LinkBan) -> None:
    with transaction.atomic():
        if LinkBan.objects.filter(pk=ban.pk).delete()[0]:
            _record("link.unbanned", ban.link)
    cache_versions.bump_all()


def _record(action: str, link: Link) -> None:
    record_change(owner_id=link.owner_id, object_id=link.public_id, action=action)


# An operator needs the magnitude, not the exact number.
COUNT_LIMIT = 1_000
# Less than the time limit of statements in requests.
COUNT_MILLISECONDS = 1_500
_QUERY_CANCELED = "57014"
# As in `links.operators`: scan the newest links for a common host, and look up a rare one in the search
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
        WHERE {SEARCH_KEYS}
                @@ links_hint('{{}}'::text[], '{{}}'::text[], %(term)s)
            AND strpos(s.content, %(host)s) > 0 AND {_TO_HOST}
        LIMIT %(limit)s + 1
    ) everything WHERE (SELECT count(*) FROM near) <= %(limit)s
)
SELECT count(*), count(DISTINCT owner_id) FROM blocked
"""  # noqa: S608 # composed of constants


class _TookTooLong(Exception):  # no error
    """PostgreSQL has canceled a statement, and its savepoint is rolled back."""


@contextmanager
def _limited_time() -> Iterator[None]:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {COUNT_MILLISECONDS}")
            yield
            cursor.execute("SET LOCAL statement_timeout = DEFAULT")
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != _QUERY_CANCELED:
            raise
        raise _TookTooLong from None


def affected_by_host(host: str) -> Affected | None:
    """The links that can lead to a canonical host or the hosts below it, at most ``COUNT_LIMIT``.

    None if counting takes too long. Does not count links to the IPv6 form of an IPv4 address, which the ban includes,
    because the index contains the text of the URL.
    """
    values = {"host": host, "term": selective_part(host), "limit": COUNT_LIMIT, "reach": REACH}
    try:
        with _limited_time():
            [(links, accounts)] = fetch(_OF_HOST, values)
    except _TookTooLong:
        return None
    return Affected(min(links, COUNT_LIMIT), accounts, is_complete=links <= COUNT_LIMIT)


def affected_by_account(owner: Workspace) -> Affected:
    return Affected(totals(owner).links, 1)


# Longer histories would help nobody.
RECORDED_LINKS = 10_000
_RECORD_BANS = f"""
SELECT accounts_record_change(l.owner_id, l.public_id, %(action)s, '{{}}', '{{}}', %(author)s::jsonb)
FROM (
    SELECT l.owner_id, l.public_id FROM links_searchable s JOIN links_link l ON l.id = s.link_id
    WHERE {SEARCH_KEYS}
            @@ links_hint('{{}}'::text[], '{{}}'::text[], %(term)s)
        AND strpos(s.content, %(host)s) > 0 AND {_TO_HOST}
    LIMIT {RECORDED_LINKS}
) l
"""  # noqa: S608 # composed of constants


def record_ban(ban: Ban, *, applies: bool) -> None:
    """Tell the owners: in the history of the workspace, or in that of the links that can lead to the host.

    There, up to ``RECORDED_LINKS`` get an entry, and none if finding them takes too long. The status of every link
    says that it is banned.
    """
    event = "banned" if applies else "unbanned"
    if ban.owner is not None:
        record_change(owner_id=ban.owner.pk, object_id=ban.owner.public_id, action=f"workspace.{event}")
        return
    host = ban.host or ""
    values = {"host": host, "term": selective_part(host), "action": f"link.{event}", "author": author()}
    with suppress(_TookTooLong), _limited_time(), connection.cursor() as cursor:
        cursor.execute(_RECORD_BANS, values)
