"""The queries that read a link for a redirect.

Trades clarity for speed: ``IS_BANNED`` skips a function where it can, and the queries for many codes are written so
that the server cannot choose a slow plan: a join read all 20,000 links of a table without statistics (135 ms instead
of 1.6 for 32 codes), and an array was planned again each time (350 us instead of 50 for three).
"""

from __future__ import annotations

from domains.models import DomainStatus
from links.storage.columns import RESTRICTIONS

_SUBJECTS_OF_BANS = "l.id, l.owner_id, l.destination, l.other_destinations"
# Whether a ban applies to the link ``l``. The call alone takes as long as the rest of a lookup, so it is omitted for
# links that no ban can concern. A ban concerns one link or one owner; if it names a host, it may concern any link.
IS_BANNED = f"""(
    (
        EXISTS (SELECT FROM links_linkban b WHERE b.link_id = l.id)
        OR EXISTS (SELECT FROM bans_ban b WHERE b.owner_id = l.owner_id)
        OR (SELECT EXISTS (SELECT FROM bans_ban WHERE host IS NOT NULL))
    ) AND links_is_banned({_SUBJECTS_OF_BANS})
)"""  # noqa: S608 # built from constants
# The fields of a target, and the SQL expressions that read them. `utm` becomes a part of the location, and some others
# become `routing`. JSON is read as text.
EXPRESSIONS = {
    "link_id": "l.id",
    "public_id": "l.public_id::text",
    "location": "l.destination",
    "utm": "l.utm",
    "redirect_type": "l.redirect_type",
    "is_active": "l.is_active",
    "ban_reason": f"CASE WHEN {IS_BANNED} THEN links_ban_reason({_SUBJECTS_OF_BANS}) END",
    "expires_at": "l.expires_at",
    "starts_at": "l.starts_at",
    "not_started_url": "l.not_started_url",
    "expired_url": "l.expired_url",
    "referrer_policy": "l.referrer_policy",
    "forward": "l.forward_query",
    "rules": "l.rules",
    "split": "l.split",
    "preview": "l.preview",
    "clicks": "n.clicks",
    "password": "l.password",
    **{column.name: f"l.{column.name}" for column in RESTRICTIONS},
}
_COLUMNS = ", ".join(EXPRESSIONS.values())
LISTS = [column.name for column in RESTRICTIONS if column.is_list]
_LINK = "links_code c JOIN links_link l ON l.id = c.link_id JOIN links_clickcounter n ON n.link_id = l.id"
# A reserved code belongs to a link that redirects on another host only. A retired code has no link.
_IS_ON_OWN_HOST = "c.domain_id IS NULL AND c.kind <> 'reserved'"
_OF_OWN_HOST = f"NULL::bigint, NULL::text, true, NULL::text, {_COLUMNS}"
_OF_DOMAIN = f"""
    d.id,
    CASE WHEN d.status = '{DomainStatus.ACTIVE}' AND NOT bans_is_host_banned(d.not_found_url)
        THEN d.not_found_url END,
    d.status = '{DomainStatus.ACTIVE}',
    CASE WHEN NOT bans_is_host_banned(d.expired_url) THEN d.expired_url END,
    {_COLUMNS}
"""


def _on_own_host(columns: str, code: str) -> str:
    return f"SELECT {columns} FROM {_LINK} WHERE c.code = {code} AND {_IS_ON_OWN_HOST}"  # noqa: S608 # built from constants


def _on_custom_host(columns: str, host: str, code: str) -> str:
    return f"""
        SELECT {columns} FROM domains_domain d LEFT JOIN ({_LINK}) ON c.domain_id = d.id AND c.code = {code}
        WHERE d.host = {host} AND d.status <> '{DomainStatus.PENDING}'
    """  # noqa: S608 # built from constants


ON_OWN_HOST = _on_own_host(_OF_OWN_HOST, "%(code)s")
ON_CUSTOM_HOST = _on_custom_host(_OF_DOMAIN, "%(host)s", "%(code)s")

# The same for many codes, as JSON arrays. Each row begins with the position of its code, from 1, and whether the query
# for one code has a row for it. LIMIT makes the server look up each code by the indexes: with outdated statistics of
# the tables, it would choose a join that reads all links. The server does not estimate a JSON array by its length.
# With arrays of its own, it would plan the statement again for each short one.
_MANY = """
    SELECT place, target.* FROM ROWS FROM ({codes}) WITH ORDINALITY wanted ({names}, place)
    LEFT JOIN LATERAL ({query} LIMIT 1) target ON true
"""
MANY_ON_OWN_HOST = _MANY.format(
    codes="json_array_elements_text(%(codes)s::json)",
    names="code",
    query=_on_own_host(f"true, {_OF_OWN_HOST}", "wanted.code"),
)
MANY_ON_CUSTOM_HOSTS = _MANY.format(
    codes="json_array_elements_text(%(hosts)s::json), json_array_elements_text(%(codes)s::json)",
    names="host, code",
    query=_on_custom_host(f"true, {_OF_DOMAIN}", "wanted.host", "wanted.code"),
)
