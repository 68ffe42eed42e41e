"""Search of all owners' links, for operators. Every query uses an index, however many links exist."""

from __future__ import annotations

from django.db.models import BooleanField, Case, Func, QuerySet, TextField, When
from django.db.models.expressions import RawSQL

from common.ids import parse_public_id
from links.listing.searches import FETCH_LIMIT, REACH, selective_part
from links.models import Link
from links.selectors import fetch

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
# The narrow copy has a partial index on inactive links.
_INACTIVE = "SELECT link_id FROM links_searchable WHERE NOT is_active ORDER BY link_id DESC LIMIT 10000"
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


def with_bans(links: QuerySet[Link]) -> QuerySet[Link]:
    """Annotate ``banned``: whether a ban applies to the link, its owner or one of its destinations.

    Also annotate ``ban_reason``: "legal" or "other" for a banned link, otherwise None.
    """
    subjects = ("pk", "owner", "destination", "other_destinations")
    banned = Func(*subjects, function="links_is_banned", output_field=BooleanField())
    reason = Func(*subjects, function="links_ban_reason", output_field=TextField())
    return links.annotate(banned=banned).annotate(ban_reason=Case(When(banned=True, then=reason)))
