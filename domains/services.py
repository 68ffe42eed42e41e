"""Claims, verifies, changes and deletes domains. No transaction is open during DNS queries.

The settings of a domain are the redirect targets for requests that match none of its links.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError
from django.db.models.functions import Now

from accounts.caps import CapReached, lock_count, sharing_workspaces
from accounts.history import authored_transaction
from accounts.models import Workspace
from accounts.rights import allows_custom_domains
from bans.services import is_host_banned
from common.database import execute, extend_response_timeout, fetch, is_reference_gone
from common.errors import Conflict, FieldError, Forbidden, InvalidFields, NotFound, ServiceError
from common.host import cache_versions
from common.http.urls import Destination
from domains.addresses import NO_DESTINATION, is_own_address
from domains.app_links import merged
from domains.models import CLAIM_DAYS, Domain, DomainStatus
from domains.names import canonical_name
from domains.selectors import get_domain, is_proven_by_another
from domains.verification import PERIOD, Check, DnsRecord, advice, examine
from limits.attempts import Limit, spend_attempt

# One a minute, for somebody who repairs DNS.
VERIFICATIONS = Limit(attempts=60, seconds=60 * 60)
# Long enough to move a hundred thousand links of a domain.
MANY_LINKS_SECONDS = 60

# The ORM would delete links and codes itself, which the triggers move to the default domain instead.
# A trigger of the links app stores the number of dropped codes in this setting.
_DELETE = """
DELETE FROM domains_domain WHERE id = %s
RETURNING status <> 'pending', coalesce(current_setting('domains.codes_dropped', true), '0')::int
"""

_DELETE_EXPIRED = """
DELETE FROM domains_domain
WHERE owner_id = %(owner)s AND host = %(host)s AND status = 'pending' AND claimed_until <= now()
"""


class DnsNotConfigured(ServiceError):
    """``data.checks`` has for each record the expected and actual values, and advice."""

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
    message = "Another account has already verified this domain."


class AlreadyClaimed(Conflict):
    code = "domain_exists"
    message = "You have added this domain already."


def claim_domain(*, owner: Workspace, domain: str, subdomain: str | None = None) -> Domain:
    """Create a claim with its own token. Other accounts can claim the same name.

    Raises InvalidFields, Forbidden, CapReached or Conflict.
    """
    name = canonical_name(domain, subdomain)
    claim = Domain(owner=owner, domain=name.domain, subdomain=name.subdomain, host=name.host)
    try:
        with authored_transaction():
            require_place(owner, name.host)
            claim.save(force_insert=True)
    except IntegrityError as error:
        if is_reference_gone(error):
            # Another request has deleted the workspace.
            raise
        raise AlreadyClaimed from None
    return get_domain(owner, str(claim.public_id))


def verify_domain(*, owner: Workspace, public_id: str) -> Domain:
    """Check DNS and activate the domain. The first account that proves a name owns it.

    Raises NotFound, Forbidden, TooManyAttempts, DomainTaken or DnsNotConfigured.
    """
    domain = get_domain(owner, public_id)
    _require_plan(owner)
    # Count per name, because a claim can be recreated; and per owner, so that no account uses up another's attempts.
    spend_attempt(f"verify {owner.pk} {domain.host}", VERIFICATIONS)
    if is_proven_by_another(domain):
        raise DomainTaken
    checks = examine(domain)
    if any(check.problem for check in checks):
        raise DnsNotConfigured(checks)
    _activate(domain)
    return get_domain(owner, public_id)


def delete_domain(*, owner: Workspace, public_id: str) -> int:
    """Delete a domain in any state. A trigger moves its links to the default domain in the same transaction.

    From then on the service does not serve the host. Returns the number of dropped custom codes, which
    were already taken on the default domain.
    """
    domain = get_domain(owner, public_id)
    with extend_response_timeout(MANY_LINKS_SECONDS), authored_transaction():
        execute(f"SET LOCAL statement_timeout = '{MANY_LINKS_SECONDS}s'")
        rows = fetch(_DELETE, [domain.pk])
    was_served, dropped = rows[0] if rows else (False, 0)
    if was_served:
        cache_versions.bump(hosts=[domain.host])
        # Any number of codes now exist on the default domain.
        cache_versions.expire_caches()
    return int(dropped)


def _activate(domain: Domain) -> None:
    try:
        with authored_transaction():
            # The inactive domain of the former owner becomes a pending claim.
            former = Domain.objects.filter(host=domain.host, status=DomainStatus.INACTIVE).exclude(
                pk=domain.pk
            )
            former.update(status=DomainStatus.PENDING, claimed_until=Now() + timedelta(days=CLAIM_DAYS))
            Domain.objects.filter(pk=domain.pk).exclude(
                status=DomainStatus.PENDING, claimed_until__lte=Now()
            ).update(
                status=DomainStatus.ACTIVE,
                failed_checks=0,
                recheck_at=Now() + PERIOD,
            )
    except IntegrityError:
        raise DomainTaken from None
    cache_versions.bump(hosts=[domain.host])


def require_place(owner: Workspace, host: str, *, source: Workspace | None = None) -> None:
    """Whether the workspace may have this domain, which comes from ``source`` if it moves. Call it in a transaction.

    Raises PlanWithoutDomains, or CapReached: then no other transaction adds a domain until the end of this one.
    """
    _require_plan(owner)
    execute(_DELETE_EXPIRED, {"owner": owner.pk, "host": host})
    cap = settings.DOMAINS_PER_ACCOUNT
    if not cap:
        return
    lock_count(owner)
    sharing = sharing_workspaces(owner)
    if source is not None and source.pk in sharing:
        return
    # A repeated claim to a name fails as a duplicate, even at the cap.
    if Domain.objects.filter(owner__in=sharing).count() >= cap and not (
        Domain.objects.visible_to(owner).filter(host=host).exists()
    ):
        raise CapReached(cap, "domains")


def _require_plan(owner: Workspace) -> None:
    if not allows_custom_domains(owner.plan):
        raise PlanWithoutDomains


def _as_data(check: Check) -> dict[str, Any]:
    problem = check.problem
    return {
        "type": check.type,
        "name": check.name,
        "ok": problem is None,
        "expected": check.expected,
        "found": check.answer.shown,
        "resolver": check.answer.resolver,
        "reason": None if problem is None else problem.value,
        "advice": advice(check),
        "remove": [_record(record) for record in check.to_remove],
        "add": [_record(record) for record in check.to_add],
    }


def _record(record: DnsRecord) -> dict[str, str]:
    return {"type": record.type, "value": record.value}


_SETTINGS = {"root_url": "rootUrl", "not_found_url": "notFoundUrl", "expired_url": "expiredUrl"}


def change_settings(
    *,
    owner: Workspace,
    public_id: str,
    urls: Mapping[str, Destination | None],
    pages: Mapping[str, Mapping[str, str | None] | None],
    codes: Mapping[str, Any],
    app_links: Mapping[str, Any],
) -> Domain:
    """Change the given settings; None removes one. The change is in force on every worker on return.

    ``urls``, ``codes``: by the attribute of the domain. ``pages``: the owner's words, by page.
    ``app_links``: the apps of each platform.

    Raises NotFound, or InvalidFields for a URL of this service, which would cause a redirect loop, and for a banned
    URL.
    """
    domain = get_domain(owner, public_id)
    errors = []
    for field, destination in urls.items():
        if destination is not None and (code := _refusal_of(domain, destination)) is not None:
            errors.append(FieldError(_SETTINGS[field], code, NO_DESTINATION[code]))
    if errors:
        raise InvalidFields(errors)
    if urls or pages or codes or app_links:
        with authored_transaction():
            # Two requests may change different pages.
            locked = Domain.objects.select_for_update(no_key=True).filter(pk=domain.pk).first()
            if locked is None:
                raise NotFound("Domain not found.")
            domain = locked
            for field, destination in urls.items():
                setattr(domain, field, None if destination is None else destination.href)
            for field, value in codes.items():
                setattr(domain, field, value)
            domain.pages = _merged(domain.pages, pages)
            domain.app_links = merged(domain.app_links, app_links)
            domain.save(update_fields=[*urls, *codes, "pages", "app_links"])
        cache_versions.bump(hosts=[domain.host])
    return domain


def _merged(pages: dict[str, Any], changes: Mapping[str, Mapping[str, str | None] | None]) -> dict[str, Any]:
    """Return the pages with these changes. A page without a title and without a text has no words."""
    merged = dict(pages)
    for page, words in changes.items():
        merged[page] = {name: (words or {}).get(name) for name in ("title", "text")}
    return {page: words for page, words in merged.items() if any(words.values())}


def _refusal_of(domain: Domain, destination: Destination) -> str | None:
    if is_own_address(destination) or _is_served_here(domain, destination.host.removesuffix(".")):
        return "loop"
    return "banned" if is_host_banned(destination.href) else None


def _is_served_here(domain: Domain, host: str) -> bool:
    return host == domain.host or Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).exists()
