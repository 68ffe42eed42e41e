"""Redirect targets of a domain for requests that match none of its links."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.history.recording import authored_transaction
from accounts.models import Workspace
from bans.selectors import is_host_banned
from common.errors import FieldError, InvalidFields
from common.host import cache_versions
from common.http.urls import Destination
from domains.addresses import NO_DESTINATION, is_own_address
from domains.models import Domain, DomainStatus
from domains.selectors import get_domain

_NAMES = {"root_url": "rootUrl", "not_found_url": "notFoundUrl", "expired_url": "expiredUrl"}


def change_settings(*, owner: Workspace, public_id: str, changes: Mapping[str, Destination | None]) -> Domain:
    """Change the given settings; None removes one. The change is in force on every worker on return.

    Raises NotFound, or InvalidFields for a URL of this service, which would cause a redirect loop, and for a banned
    URL.
    """
    domain = get_domain(owner, public_id)
    errors = []
    for field, destination in changes.items():
        if destination is not None and (code := _refusal(domain, destination)) is not None:
            errors.append(FieldError(_NAMES[field], code, NO_DESTINATION[code]))
    if errors:
        raise InvalidFields(errors)
    for field, destination in changes.items():
        setattr(domain, field, None if destination is None else destination.href)
    if changes:
        with authored_transaction():
            domain.save(update_fields=list(changes))
        cache_versions.bump(hosts=[domain.host])
    return domain


def _refusal(domain: Domain, destination: Destination) -> str | None:
    if is_own_address(destination) or _is_served_here(domain, destination.host.removesuffix(".")):
        return "loop"
    return "banned" if is_host_banned(destination.href) else None


def _is_served_here(domain: Domain, host: str) -> bool:
    return host == domain.host or Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).exists()
