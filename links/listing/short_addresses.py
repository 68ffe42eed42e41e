"""Finds a link by its whole short URL."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from accounts.models import Workspace
from common.http.urls import Destination, InvalidDestination, canonical_destination
from domains.addresses import is_own_address
from links.selectors import fetch

# A reserved code does not redirect to its link: the link is on a customer's domain.
_ON_DEFAULT_DOMAIN = """
SELECT l.id FROM links_code c JOIN links_link l ON l.id = c.link_id
WHERE c.domain_id IS NULL AND c.code = %(code)s AND c.kind <> 'reserved' AND l.owner_id = %(owner)s
"""
_ON_CUSTOM_DOMAIN = """
SELECT l.id FROM domains_domain d JOIN links_code c ON c.domain_id = d.id JOIN links_link l ON l.id = c.link_id
WHERE d.owner_id = %(owner)s AND d.host = %(host)s AND c.code = %(code)s AND l.owner_id = %(owner)s
"""


def link_at(owner: Workspace, text: str) -> int | None:
    """The primary key of the owner's link at this short URL, which may have a former code of the link.

    The scheme, a final slash, a query and a fragment make no difference.
    """
    address = _parse(text)
    if address is None:
        return None
    # Codes are stored decoded.
    code = unquote(urlsplit(address.href).path).removeprefix("/").removesuffix("/")
    if not code or "/" in code or "\0" in code:
        return None
    query = _ON_DEFAULT_DOMAIN if is_own_address(address) else _ON_CUSTOM_DOMAIN
    values = {"owner": owner.pk, "host": address.host.removesuffix("."), "code": code}
    return next((link_id for (link_id,) in fetch(query, values)), None)


def _parse(text: str) -> Destination | None:
    if "/" not in text:
        return None
    text = text.strip()
    try:
        return canonical_destination(text if re.match("(?i)https?://", text) else f"https://{text}")
    except InvalidDestination:
        return None
