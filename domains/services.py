"""Claims to names: made, proven, given up. No transaction is open while DNS is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, connection, transaction

from accounts.limits import Limit, spend_attempt
from accounts.models import User
from accounts.plans import allows_custom_domains
from common import versions
from common.errors import Conflict, Forbidden, ServiceError
from domains.advice import advice
from domains.models import CLAIM_DAYS, Domain
from domains.names import canonical_name
from domains.proof import Check, examine
from domains.selectors import get_domain, is_proven_by_another

VERIFICATIONS = Limit(attempts=10, seconds=60 * 60)
RECHECK_HOURS = 24
# Long enough for a hundred thousand links to come home.
_DELETE_SECONDS = 60

# What keeps rows of a domain says in this setting how many codes went with it.
_DELETE = """
DELETE FROM domains_domain WHERE id = %s
RETURNING status <> 'pending', coalesce(current_setting('domains.codes_dropped', true), '0')::int
"""

_FORGET_LAPSED = """
DELETE FROM domains_domain
WHERE owner_id = %(owner)s AND host = %(host)s AND status = 'pending' AND claimed_until <= now()
"""
# Who let a proven name lapse has a mere claim to it once somebody else has proven it.
_DEMOTE = f"""
UPDATE domains_domain SET status = 'pending', claimed_until = now() + interval '{CLAIM_DAYS} days'
WHERE host = %(host)s AND status = 'inactive' AND id <> %(id)s
"""  # noqa: S608 # put together from constants
_ACTIVATE = f"""
UPDATE domains_domain
SET status = 'active', failed_checks = 0, recheck_at = now() + interval '{RECHECK_HOURS} hours'
WHERE id = %(id)s AND (status <> 'pending' OR claimed_until > now())
"""  # noqa: S608 # put together from constants


class DnsNotConfigured(ServiceError):
    """``data.checks`` says of each record what was expected, what was found and what to do."""

    code = "dns_not_configured"
    message = "The domain's DNS is not configured yet."

    def __init__(self, checks: list[Check]) -> None:
        super().__init__()
        self.data: Mapping[str, Any] = {"checks": [_as_data(check) for check in checks]}


class PlanWithoutDomains(Forbidden):
    code = "plan_required"
    message = "Custom domains are available on the Pro and Enterprise plans."


class DomainTaken(Conflict):
    code = "domain_taken"
    message = "Another account has proven that this domain is its own."


class AlreadyClaimed(Conflict):
    code = "domain_exists"
    message = "You have added this domain already."


def claim_domain(*, owner: User, domain: str, subdomain: str | None = None) -> Domain:
    """A claim with a token of its own, which excludes nobody. Raises InvalidFields, Forbidden or Conflict."""
    name = canonical_name(domain, subdomain)
    _require_plan(owner)
    claim = Domain(owner=owner, domain=name.domain, subdomain=name.subdomain, host=name.host)
    try:
        with transaction.atomic():
            _execute(_FORGET_LAPSED, owner=owner.pk, host=name.host)
            claim.save(force_insert=True)
    except IntegrityError:
        raise AlreadyClaimed from None
    return get_domain(owner, str(claim.public_id))


def verify_domain(*, owner: User, public_id: str) -> Domain:
    """Asks DNS; the first valid proof of a name owns it.

    Raises NotFound, Forbidden, TooManyAttempts, DomainTaken or DnsNotConfigured.
    """
    domain = get_domain(owner, public_id)
    _require_plan(owner)
    # Of a name and not of a claim, which could be made anew; of an owner, so that nobody uses up another's.
    spend_attempt(f"verify {owner.pk} {domain.host}", VERIFICATIONS)
    if is_proven_by_another(domain):
        raise DomainTaken
    checks = examine(domain)
    if any(check.amiss for check in checks):
        raise DnsNotConfigured(checks)
    _activate(domain)
    return get_domain(owner, public_id)


def delete_domain(*, owner: User, public_id: str) -> int:
    """Ends a claim in any state; the database sends its links home in the same transaction.

    From then on the host is not answered any more. Gives the number of custom codes that had no place there.
    """
    domain = get_domain(owner, public_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{_DELETE_SECONDS}s'")
        cursor.execute(_DELETE, [domain.pk])
        was_served, dropped = cursor.fetchone() or (False, 0)
    if was_served:
        # The host is known no more, and any number of codes have begun to mean something on the default domain.
        versions.bump_all()
    return int(dropped)


def _activate(domain: Domain) -> None:
    try:
        with transaction.atomic():
            _execute(_DEMOTE, id=domain.pk, host=domain.host)
            _execute(_ACTIVATE, id=domain.pk)
    except IntegrityError:
        raise DomainTaken from None
    versions.bump(hosts=[domain.host])


def _execute(query: str, **values: str | int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, values)


def _require_plan(owner: User) -> None:
    if not allows_custom_domains(owner.plan):
        raise PlanWithoutDomains


def _as_data(check: Check) -> dict[str, Any]:
    amiss = check.amiss
    return {
        "type": check.type,
        "name": check.name,
        "ok": amiss is None,
        "expected": check.expected,
        "found": check.answer.shown,
        "resolver": check.answer.resolver,
        "reason": None if amiss is None else amiss.value,
        "advice": None if amiss is None else advice(amiss, check.name, check.answer),
    }
