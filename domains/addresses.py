"""How a domain is shown: the default one, which has no row, and customers' own alike."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from common.destination_url import Destination
from common.hosts import LOOPBACK_HOSTS
from domains.models import Domain, DomainStatus

BASE_ID = "base"
# Why an address is refused that visitors would be sent to, by code.
NO_DESTINATION = {"loop": "Leads back to this service.", "banned": "Leads to a host that is banned here."}


@dataclass(frozen=True, slots=True)
class DomainAddress:
    """``short_url`` is the domain's own address, so that ``short_url + "/" + code`` is a link."""

    id: str
    full_domain: str
    domain: str
    subdomain: str | None
    short_url: str
    status: str
    is_default: bool


def leads_home(destination: Destination) -> bool:
    """Whether it is an address of the service itself; customers' domains are another matter."""
    if destination.host.removesuffix(".") not in settings.BASE_HOSTS:
        return False
    # On a loopback address every port is a service of its own; a real host is ours on the web's ports too.
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


def short_url_of_host(host: str | None) -> str:
    """The address of a customer's host (always TLS), or of the default domain for None."""
    return settings.BASE_URL if host is None else f"https://{host}"
