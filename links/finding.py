"""Finding links of any owner, for operators. Each way ends in an index, however many links there are."""

from __future__ import annotations

from django.db.models import BooleanField, Func, QuerySet
from django.db.models.expressions import RawSQL

from common.ids import parse_public_id
from links.models import Link
from links.searches import COUNT_LIMIT, REACH, telling_part
from links.selectors import fetch

# The index of codes begins with the domain: every domain is asked.
_BY_CODE = """
SELECT link_id FROM links_code WHERE code = %(text)s AND domain_id IS NULL AND link_id IS NOT NULL
UNION
SELECT c.link_id FROM domains_domain d JOIN links_code c ON c.domain_id = d.id
WHERE c.code = %(text)s AND c.link_id IS NOT NULL
"""
_BY_OWNER = """
SELECT s.link_id FROM accounts_user u JOIN links_searchable s ON s.owner_id = u.id
WHERE u.email = lower(%(text)s) ORDER BY s.created_at DESC, s.link_id DESC LIMIT %(limit)s
"""
# What many have is found among the newest; what few have, by the index of the owners' searches, across owners.
_BY_CONTENT = """
WITH near AS MATERIALIZED (
    SELECT s.link_id FROM (SELECT * FROM links_searchable ORDER BY link_id DESC LIMIT %(reach)s) s
    WHERE strpos(s.content, lower(%(text)s)) > 0 LIMIT %(limit)s
)
SELECT link_id FROM near WHERE (SELECT count(*) FROM near) = %(limit)s
UNION ALL
SELECT link_id FROM (
    SELECT s.link_id FROM links_searchable s
    WHERE links_keys(s.owner_id, links_period(s.created_at), s.is_active, s.tag_keys, s.content)
            @@ links_hint('{}'::text[], '{}'::text[], lower(%(term)s))
        AND strpos(s.content, lower(%(text)s)) > 0
    LIMIT %(limit)s
) everything WHERE (SELECT count(*) FROM near) < %(limit)s
"""
# Of the narrow copy, which has an index of just these.
_OFF = "SELECT link_id FROM links_searchable WHERE NOT is_active ORDER BY link_id DESC LIMIT 10000"
_SHORTEST = 3


def links_named(text: str) -> list[int]:
    """The numbers of the links that have this id or code; a code may be taken on several domains."""
    identifier = parse_public_id(text)
    if identifier is not None:
        return list(Link.objects.filter(public_id=identifier).values_list("pk", flat=True))
    return [link_id for (link_id,) in fetch(_BY_CODE, {"text": text})]


def find_links(links: QuerySet[Link], text: str) -> QuerySet[Link]:
    """By an id, a whole code, present or former, an owner's e-mail, or any part of destination or title.

    At most ``COUNT_LIMIT`` are found by a part.
    """
    values = {"text": text, "term": telling_part(text), "limit": COUNT_LIMIT, "reach": REACH}
    found = links_named(text)
    if "@" in text:
        found += [link_id for (link_id,) in fetch(_BY_OWNER, values)]
    elif len(text) >= _SHORTEST:
        found += [link_id for (link_id,) in fetch(_BY_CONTENT, values)]
    return links.filter(pk__in=found)


def switched_off(links: QuerySet[Link]) -> QuerySet[Link]:
    """By their owners; the newest of them."""
    return links.filter(pk__in=RawSQL(_OFF, []))  # noqa: S611 # a constant


def with_bans(links: QuerySet[Link]) -> QuerySet[Link]:
    """Each says whether it is banned, for its own sake or for its owner's or destination's."""
    banned = Func("pk", "owner", "destination", function="links_is_banned", output_field=BooleanField())
    return links.annotate(banned=banned)
