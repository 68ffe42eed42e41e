"""Checks that owners ask for."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.conf import settings

from accounts.models import Workspace
from common.database import fetch, in_one_transaction
from common.errors import Conflict
from common.ids import parse_public_id
from limits.attempts import Limit, spend_attempt
from links.errors import url_not_found
from links.key_limits import condition_of

MAX_LINKS = 100
LIMIT = Limit(attempts=20, seconds=600)

_REQUEST = """
WITH wanted AS (
    SELECT l.id, l.owner_id, l.public_id FROM links_link l
    WHERE l.public_id = ANY(%(links)s) AND l.owner_id = %(owner)s{condition}
), requested AS (
    INSERT INTO links_linkhealth (link_id, owner_id, due_at, is_requested)
    SELECT id, owner_id, now(), true FROM wanted ORDER BY id
    ON CONFLICT (link_id) DO UPDATE SET due_at = now(), is_requested = true
)
SELECT public_id FROM wanted
"""


class OutboundOff(Conflict):
    code = "outbound_off"
    message = "This installation sends no requests to other hosts."


def request_checks(owner: Workspace, public_ids: Sequence[str]) -> list[UUID]:
    """Let the destinations of these links be checked soon, and return the links.

    Raises OutboundOff, TooManyAttempts, and NotFound if one of the links is not there; then none is checked.
    """
    if not settings.OUTBOUND:
        raise OutboundOff
    wanted = list(dict.fromkeys(map(parse_public_id, public_ids)))
    condition, limits = condition_of(owner.key)

    def work() -> None:
        found = fetch(_REQUEST.format(condition=condition), {"links": wanted, "owner": owner.pk, **limits})
        if len(found) < len(wanted):
            raise url_not_found()

    spend_attempt(f"destination checks of {owner.pk}", LIMIT)
    in_one_transaction(work)
    return [link for link in wanted if link is not None]
