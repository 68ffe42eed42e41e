"""The link whose code somebody may have meant: another one of the same owner and domain, one mistake away.

A mistake is a missing, an additional, a wrong or an exchanged character, or other capitals. All codes that are one
mistake away are looked up, because PostgreSQL has an index on codes but, without extensions, none on their distance.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from accounts.models import Workspace
from common.database import fetch

# The number of codes to look up grows with the square of the length.
MAX_LENGTH = 32
_CHARACTERS = string.ascii_letters + string.digits + "-_"
_LINKS = """
SELECT c.code, l.public_id FROM links_code c JOIN links_link l ON l.id = c.link_id
WHERE c.domain_id {is_domain} AND c.code = ANY(%(codes)s) AND c.kind <> 'reserved' AND l.owner_id = %(owner)s
"""
_IS_DOMAIN = {True: "IS NULL", False: "= %(domain)s"}


class NearLink(NamedTuple):
    """``code``: the code of the link that is near, or the same."""

    code: str
    public_id: UUID


def nearest_links(codes: Iterable[str], *, domain_id: int | None, owner: Workspace) -> dict[str, NearLink]:
    """The link that is nearest to each of these codes, if there is one. One query."""
    candidates = {code: set(near(code)) for code in codes}
    values = {
        "codes": list(set().union(*candidates.values())),
        "domain": domain_id,
        "owner": owner.pk,
    }
    links = {
        code: NearLink(code, link)
        for code, link in fetch(_LINKS.format(is_domain=_IS_DOMAIN[domain_id is None]), values)
    }
    nearest = {}
    for code, meant in candidates.items():
        found = [links[each] for each in meant & links.keys()]
        if found:
            nearest[code] = min(found, key=lambda link: _distance(code, link.code))
    return nearest


def near(code: str) -> Iterator[str]:
    """The code, and all that are one mistake away; none for a long one."""
    if len(code) > MAX_LENGTH:
        return
    yield code
    yield from {code.lower(), code.upper(), code.capitalize(), code.swapcase()}
    for place in range(len(code) + 1):
        before, after = code[:place], code[place:]
        if after:
            yield before + after[1:]
            yield from (before + character + after[1:] for character in _CHARACTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + character + after for character in _CHARACTERS)


def _distance(code: str, other: str) -> tuple[bool, bool, bool, str]:
    """The same code first, then one with other capitals, then one of the same characters in another order."""
    return other != code, other.lower() != code.lower(), sorted(other) != sorted(code), other
