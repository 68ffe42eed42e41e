"""Whether a workspace could give a code to a link now, and which ones like it are free.

Only the constraint of the table decides about a later write (`links.code_claims`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from django.db.models import TextChoices

from accounts.models import Workspace
from links.code_claims import own_codes, unavailable_codes
from links.codes import is_code, is_reserved
from links.guess_counts import guesses
from links.key_limits import usable_domain

SUGGESTIONS = 3
# The endings that suggestions try, in this order.
_ENDINGS = ("2", "3", "4", "5", "6", "7", "8", "9", "now", "go", "link")


class Unavailable(TextChoices):
    INVALID = "invalid"
    RESERVED = "reserved"
    TAKEN = "taken"


class CodeCheck(NamedTuple):
    """``reason`` is None if the code is available. ``suggestions``: available codes, none if the code is not taken."""

    reason: Unavailable | None
    suggestions: list[str]


def check_code(owner: Workspace, code: str, domain_id: str | None = None, *, address: str) -> CodeCheck:
    """Whether ``owner`` could give ``code`` to a link on the domain now.

    Codes of other workspaces that the result reveals count as guesses of the network of ``address``. Raises NotFound,
    DomainNotActive or TooManyAttempts.
    """
    domain = usable_domain(owner, domain_id)
    if not is_code(code):
        return CodeCheck(Unavailable.INVALID, [])
    if is_reserved(code):
        return CodeCheck(Unavailable.RESERVED, [])
    key = None if domain is None else domain.pk
    # Most codes are free: look up the others only if they are needed.
    if not unavailable_codes([(key, code)], owner_id=owner.pk):
        return CodeCheck(None, [])
    similar = list(_similar(code))
    found = unavailable_codes([(key, each) for each in similar], owner_id=owner.pk)
    unavailable = {code, *(taken for _, taken in found)}
    if domain is None:
        guesses().spend(address, len(unavailable - own_codes(unavailable, owner_id=owner.pk)))
    free = (each for each in similar if each not in unavailable)
    return CodeCheck(Unavailable.TAKEN, list(islice(free, SUGGESTIONS)))


def _similar(code: str) -> Iterator[str]:
    for ending in _ENDINGS:
        longer = code + ending
        if is_code(longer) and not is_reserved(longer):
            yield longer
