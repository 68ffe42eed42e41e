"""The API's view of a domain: the default domain, which has no row, and customers' domains."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from common.http.short_urls import BASE_ID, short_url_of_host
from common.http.urls import LOOPBACK_HOSTS, Destination
from domains.models import Domain, DomainStatus

# Error messages for refused redirect targets, by error code.
NO_DESTINATION = {
    "loop": "Must not point to this service.",
    "banned": "Must not point to a host that is banned here.",
}


@dataclass(frozen=True, slots=True)
class DomainAddress:
    """``short_url`` is the domain's base URL: ``short_url + "/" + code`` is a short URL."""

    id: str
    full_domain: str
    domain: str
    subdomain: str | None
    short_url: str
    status: str
    is_default: bool


def is_own_address(destination: Destination) -> bool:
    """Whether it is a URL of the service's own hosts. Does not check customers' domains."""
    if destination.host.removesuffix(".") not in settings.BASE_HOSTS:
        return False
    # On a loopback host, each port can be a different service. On a real host, ports 80 and 443 are also this service.
    ports = {settings.BASE_PORT} | (set() if settings.BASE_HOST in LOOPBACK_HOSTS else {80, 443})
    return destination.port in ports


def base_address() -> DomainAddress:
    netloc = urlsplit(settings.BASE_URL).netloc
    return DomainAddress(BASE_ID, netloc, netloc, None, settings.BASE_URL, DomainStatus.ACTIVE, True)


def address_of(domain: Domain | None) -> DomainAddress:
    if domain is None:
        return base_address()
    return DomainAddress(
        id=str(domain.public_id),
        full_domain=domain.host,
        domain=domain.domain,
        subdomain=domain.subdomain,
        short_url=short_url_of_host(domain.host),
        status=domain.status,
        is_default=False,
    )
