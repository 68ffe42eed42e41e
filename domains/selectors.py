from __future__ import annotations

from typing import Any

from django.db.models import Count

from accounts.models import Workspace
from common.database import read_first
from common.errors import NotFound
from common.ids import find_by_public_id
from common.pages import Page, Window, page_of, rows_of
from domains.models import Domain, DomainStatus


def list_domains(owner: Workspace, window: Window) -> Page[Domain]:
    """The oldest first; empty beyond the last page."""
    domains = Domain.objects.visible_to(owner)
    found = rows_of(domains, window, "created_at", "id")
    return page_of(found, window, domains.count(), lambda domain: (domain.created_at, domain.pk))


def get_domain(owner: Workspace, public_id: str) -> Domain:
    """Raises NotFound for an unknown or malformed id and for another owner's domain."""
    domain = find_domain(owner, public_id)
    if domain is None:
        raise NotFound("Domain not found.")
    return domain


def find_domain(owner: Workspace, public_id: str) -> Domain | None:
    """The owner's domain with this id, in any state."""
    return find_by_public_id(Domain.objects.visible_to(owner), public_id)


def verified_domains(owner: Workspace) -> list[Domain]:
    """The owner's domains that are or have been active. Only they can have links."""
    return list(Domain.objects.filter(owner=owner).exclude(status=DomainStatus.PENDING))


def active_domain(host: str) -> Domain | None:
    """The domain that serves this canonical host. Its settings can be read, not all of its fields."""
    domains = Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).only("root_url", "pages")
    return read_first(domains.first)


def app_links_of(host: str) -> dict[str, Any] | None:
    """The apps that may open the links of this canonical host. None: no active domain has it."""
    domains = Domain.objects.filter(host=host, status=DomainStatus.ACTIVE)
    return read_first(domains.values_list("app_links", flat=True).first)


def count_domains(owner: Workspace) -> int:
    return Domain.objects.visible_to(owner).count()


def count_by_status() -> dict[str, int]:
    """Count the domains of all owners by status. Every status is present, in lifecycle order."""
    counted = Domain.objects.claimed().values_list("status").annotate(number=Count("pk")).order_by()
    return {**dict.fromkeys(DomainStatus.values, 0), **dict(counted)}


def is_proven_by_another(domain: Domain) -> bool:
    domains = Domain.objects.filter(host=domain.host, status=DomainStatus.ACTIVE)
    return domains.exclude(pk=domain.pk).exists()
