"""The daily recheck of active domains. Any number of hosts can run it concurrently."""

from __future__ import annotations

import logging
from typing import Any

from django.db import connection

from common.host import cache_versions
from domains.models import Domain
from domains.verification import Check, examine, examine_all

logger = logging.getLogger(__name__)

STRIKES = 3
_PERIOD = "24 hours"
# A resolver failure does not deactivate a domain; the check is repeated soon.
_RETRY = "1 hour"
# Longer than a check takes. The domains leased by a host that dies are due again after the lease.
_LEASE_PERIOD = "10 minutes"
_BATCH = 20

LEASE_DUE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE_PERIOD}'
WHERE id IN (
    SELECT id FROM domains_domain WHERE status = 'active' AND recheck_at <= now()
    ORDER BY recheck_at LIMIT {_BATCH} FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # built from constants
_LEASE_ONE = f"""
UPDATE domains_domain SET recheck_at = now() + interval '{_LEASE_PERIOD}' WHERE id = %s AND status = 'active'
RETURNING id, host, token, recheck_at
"""  # noqa: S608 # built from constants
# Update only rows that have not changed since the lease: during the check, the owner may have verified or deleted the
# domain.
_IF_LEASED = "WHERE id = %(id)s AND status = 'active' AND recheck_at = %(leased_until)s"
_GOOD = f"UPDATE domains_domain SET failed_checks = 0, recheck_at = now() + interval '{_PERIOD}' {_IF_LEASED}"  # noqa: S608 # constants
_UNKNOWN = f"UPDATE domains_domain SET recheck_at = now() + interval '{_RETRY}' {_IF_LEASED}"  # noqa: S608 # constants
_BAD = f"""
UPDATE domains_domain SET failed_checks = failed_checks + 1, recheck_at = now() + interval '{_PERIOD}',
    status = CASE WHEN failed_checks + 1 >= {STRIKES} THEN 'inactive' ELSE status END
{_IF_LEASED} RETURNING status
"""  # noqa: S608 # built from constants

# Delete one row at a time and skip locked rows: each deletion moves the domain's links to the default domain.
_DELETE_EXPIRED = """
DELETE FROM domains_domain WHERE id = (
    SELECT id FROM domains_domain WHERE status = 'pending' AND claimed_until <= now() LIMIT 1 FOR UPDATE SKIP LOCKED
)
"""


def recheck_due() -> int:
    """Check every active domain that is due, and return their number."""
    checked = 0
    while leased := lease_due():
        for domain, checks in zip(leased, examine_all(leased), strict=True):
            record_result(domain, checks)
        checked += len(leased)
    return checked


def recheck_now(domain: Domain) -> list[Check]:
    """Check a domain immediately. For an active domain, this counts as the daily check.

    Raises TooManyAttempts. No transaction may be open.
    """
    leased = list(Domain.objects.raw(_LEASE_ONE, [domain.pk]))
    checks = examine(domain)
    for leased_domain in leased:
        record_result(leased_domain, checks)
    return checks


def delete_expired_claims() -> int:
    deleted = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_DELETE_EXPIRED)
            if not cursor.rowcount:
                return deleted
            deleted += 1


def lease_due() -> list[Domain]:
    return list(Domain.objects.raw(LEASE_DUE))


def record_result(domain: Domain, checks: list[Check]) -> None:
    problems = {f"{check.type} {check.name}": check for check in checks if check.problem}
    values: dict[str, Any] = {"id": domain.pk, "leased_until": domain.recheck_at}
    with connection.cursor() as cursor:
        if not problems:
            cursor.execute(_GOOD, values)
        elif not any(check.is_definite for check in problems.values()):
            cursor.execute(_UNKNOWN, values)
        else:
            cursor.execute(_BAD, values)
            for (status,) in cursor.fetchall():
                cache_versions.bump(hosts=[domain.host])
                records = ", ".join(f"{record} is {check.answer.shown}" for record, check in problems.items())
                logger.warning(
                    "The DNS check of %s failed. Its status is %s: %s.", domain.host, status, records
                )
