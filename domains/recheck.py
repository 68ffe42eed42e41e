"""The daily second look at active domains. Any number of hosts may do it at once."""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection

from common import versions
from domains.models import Domain
from domains.proof import Check, examine, examine_all

logger = logging.getLogger(__name__)

STRIKES = 3
_PERIOD = "24 hours"
# A resolver that does not know is no reason to switch a domain off, but one to ask again soon.
_RETRY = "1 hour"
# Longer than a look takes: what is taken by a host that dies meanwhile is due again then.
_LEASE = "10 minutes"
_BATCH = 20

_TAKE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE}'
WHERE id IN (
    SELECT id FROM domains_domain WHERE status = 'active' AND recheck_at <= now()
    ORDER BY recheck_at LIMIT {_BATCH} FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # put together from constants
_TAKE_ONE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE}' WHERE id = %s AND status = 'active'
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # put together from constants
# Only what is still as it was taken: an owner may have verified the domain, or given it up, while DNS was asked.
_MINE = "WHERE id = %(id)s AND status = 'active' AND recheck_at = %(taken)s"
_GOOD = f"UPDATE domains_domain SET failed_checks = 0, recheck_at = now() + interval '{_PERIOD}' {_MINE}"  # noqa: S608
_UNKNOWN = f"UPDATE domains_domain SET recheck_at = now() + interval '{_RETRY}' {_MINE}"  # noqa: S608 # constants
_BAD = f"""
UPDATE domains_domain SET failed_checks = failed_checks + 1, recheck_at = now() + interval '{_PERIOD}',
    status = CASE WHEN failed_checks + 1 >= {STRIKES} THEN 'inactive' ELSE status END
{_MINE} RETURNING status
"""  # noqa: S608 # put together from constants

# One row at a time and none that somebody else has in hand: each sends its links home.
_FORGET = """
DELETE FROM domains_domain WHERE id = (
    SELECT id FROM domains_domain WHERE status = 'pending' AND claimed_until <= now() LIMIT 1 FOR UPDATE SKIP LOCKED
)
"""


def recheck_due() -> int:
    """Looks at every active domain whose time has come; gives how many that were."""
    looked_at = 0
    while taken := _take():
        for domain, checks in zip(taken, examine_all(taken), strict=True):
            _record(domain, checks)
        looked_at += len(taken)
    return looked_at


def recheck_now(domain: Domain) -> list[Check]:
    """Looks at a domain at once and gives what was found, which counts as the day's look if the domain is active.

    Raises TooManyAttempts. No transaction may be open.
    """
    taken = list(Domain.objects.raw(_TAKE_ONE, [domain.pk]))
    checks = examine(domain)
    for each in taken:
        _record(each, checks)
    return checks


def forget_lapsed_claims() -> int:
    forgotten = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_FORGET)
            if not cursor.rowcount:
                return forgotten
            forgotten += 1


def _take() -> list[Domain]:
    return list(Domain.objects.raw(_TAKE))


def _record(domain: Domain, checks: list[Check]) -> None:
    amiss = {f"{check.type} {check.name}": check for check in checks if check.amiss}
    values: dict[str, Any] = {"id": domain.pk, "taken": domain.recheck_at}
    with connection.cursor() as cursor:
        if not amiss:
            cursor.execute(_GOOD, values)
        elif not any(check.is_definite for check in amiss.values()):
            cursor.execute(_UNKNOWN, values)
        else:
            cursor.execute(_BAD, values)
            for (status,) in cursor.fetchall():
                versions.bump(hosts=[domain.host])
                found = ", ".join(f"{record} is {check.answer.shown}" for record, check in amiss.items())
                logger.warning(
                    "The DNS of %s is not as it should be, and it is %s: %s.", domain.host, status, found
                )
