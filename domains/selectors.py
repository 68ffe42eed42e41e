from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from accounts.models import Workspace
from common.database import read_first
from common.errors import NotFound
from common.ids import parse_public_id
from common.pages import Page
from domains.models import Domain, DomainStatus

# An unverified claim does not count after its deadline, even while its row still exists.
LAPSED = Q(status=DomainStatus.PENDING, claimed_until__lte=Now())


def domains_of(owner: Workspace) -> QuerySet[Domain]:
    """All of an owner's domains, oldest first. Only that of the caller's key if it has one."""
    return Domain.objects.filter(~LAPSED, owner=owner, **_limits(owner)).order_by("created_at", "id")


def list_domains(owner: Workspace, *, page: int, limit: int) -> Page[Domain]:
    """The oldest first; empty beyond the last page."""
    domains, offset = domains_of(owner), (page - 1) * limit
    return Page(list(domains[offset : offset + limit]), domains.count())


def get_domain(owner: Workspace, public_id: str) -> Domain:
    """Raises NotFound for an unknown or malformed id and for another owner's domain."""
    domain = find_domain(owner, public_id)
    if domain is None:
        raise NotFound("Domain not found.")
    return domain


def find_domain(owner: Workspace, public_id: str) -> Domain | None:
    """The owner's domain with this id, in any state."""
    identifier = parse_public_id(public_id)
    return None if identifier is None else domains_of(owner).filter(public_id=identifier).first()


def usable_domains(owner: Workspace) -> list[Domain]:
    """The owner's domains that can have links, oldest first. Only that of the caller's key if it has one."""
    domains = Domain.objects.filter(owner=owner, status=DomainStatus.ACTIVE, **_limits(owner))
    return list(domains.order_by("created_at", "id"))


def verified_domains(owner: Workspace) -> list[Domain]:
    """The owner's domains that are or have been active. Only they can have links."""
    return list(Domain.objects.filter(owner=owner).exclude(status=DomainStatus.PENDING))


def active_domain(host: str) -> Domain | None:
    """The domain that serves this canonical host. Its settings can be read, not all of its fields."""
    domains = Domain.objects.filter(host=host, status=DomainStatus.ACTIVE).only("root_url")
    return read_first(domains.first)


def count_domains(owner: Workspace) -> int:
    return domains_of(owner).count()


def count_by_status() -> dict[str, int]:
    """Count the domains of all owners by status. Every status is present, in lifecycle order."""
    counted = Domain.objects.filter(~LAPSED).values_list("status").annotate(number=Count("pk")).order_by()
    return {**dict.fromkeys(DomainStatus.values, 0), **dict(counted)}


def is_proven_by_another(domain: Domain) -> bool:
    domains = Domain.objects.filter(host=domain.host, status=DomainStatus.ACTIVE)
    return domains.exclude(pk=domain.pk).exists()


def _limits(owner: Workspace) -> dict[str, int]:
    return {} if owner.key is None or owner.key.domain_id is None else {"pk": owner.key.domain_id}
