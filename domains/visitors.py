"""Where a domain sends those who do not ask for one of its links."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

from accounts.models import User
from common import versions
from common.database import read_first
from common.destination_url import Destination, canonical_destination
from common.errors import FieldError, InvalidFields
from domains.addresses import NO_DESTINATION, leads_home
from domains.models import Domain, DomainStatus
from domains.selectors import get_domain

_NAMES = {"root_url": "rootUrl", "not_found_url": "notFoundUrl", "expired_url": "expiredUrl"}


def change_settings(*, owner: User, public_id: str, changes: Mapping[str, str | None]) -> Domain:
    """Changes those that are given; null takes one away. In force on every worker on return.

    Raises NotFound, or InvalidFields for an address of this service, which would lead visitors round in circles, and
    for one that an operator has banned.
    """
    domain = get_domain(owner, public_id)
    destinations = {
        field: None if given is None else canonical_destination(given) for field, given in changes.items()
    }
    errors = []
    for field, destination in destinations.items():
        if destination is not None and (code := _refusal(domain, destination)) is not None:
            errors.append(FieldError(_NAMES[field], code, NO_DESTINATION[code]))
    if errors:
        raise InvalidFields(errors)
    for field, destination in destinations.items():
        setattr(domain, field, None if destination is None else destination.href)
    if destinations:
        domain.save(update_fields=list(destinations))
        versions.bump(hosts=[domain.host])
    return domain


def root_url_of(host: str) -> str | None:
    """Where those are sent who ask a customer's domain for nothing."""
    active = Domain.objects.filter(host=host, status=DomainStatus.ACTIVE)
    return read_first(active.values_list("root_url", flat=True).first)


def is_host_banned(address: str) -> bool:
    """Of an address as a browser writes it. The app of links keeps the bans; the database knows them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT links_is_host_banned(%s)", [address])
        [(banned,)] = cursor.fetchall()
    return bool(banned)


def _refusal(domain: Domain, destination: Destination) -> str | None:
    if leads_home(destination) or _is_served_here(domain, destination.host.removesuffix(".")):
        return "loop"
    return "banned" if is_host_banned(destination.href) else None


def _is_served_here(domain: Domain, host: str) -> bool:
    return host == domain.host or Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).exists()
