from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from accounts.models import User
from common.errors import NotFound
from common.ids import parse_public_id
from domains.models import Domain, DomainStatus

# A claim that was not proven in time is gone, also while its row is not.
LAPSED = Q(status=DomainStatus.PENDING, claimed_until__lte=Now())


def domains_of(owner: User) -> QuerySet[Domain]:
    """All of an owner's domains, oldest first."""
    return Domain.objects.filter(~LAPSED, owner=owner).order_by("created_at", "id")


def get_domain(owner: User, public_id: str) -> Domain:
    """Raises NotFound, for another owner's domain and for what is no id as for none."""
    identifier = parse_public_id(public_id)
    domain = None if identifier is None else domains_of(owner).filter(public_id=identifier).first()
    if domain is None:
        raise NotFound("Domain not found.")
    return domain


def usable_domains(owner: User) -> list[Domain]:
    """The domains of an owner that a link may be put on, oldest first."""
    return list(Domain.objects.filter(owner=owner, status=DomainStatus.ACTIVE).order_by("created_at", "id"))


def usable_domain(owner: User, public_id: str) -> Domain | None:
    identifier = parse_public_id(public_id)
    if identifier is None:
        return None
    return Domain.objects.filter(owner=owner, status=DomainStatus.ACTIVE, public_id=identifier).first()


def count_domains(owner: User) -> int:
    return domains_of(owner).count()


def count_by_status() -> dict[str, int]:
    """Of all owners together; every status, in the order of a domain's life."""
    counted = Domain.objects.filter(~LAPSED).values_list("status").annotate(number=Count("pk")).order_by()
    return {**dict.fromkeys(DomainStatus.values, 0), **dict(counted)}


def is_proven_by_another(domain: Domain) -> bool:
    rivals = Domain.objects.filter(host=domain.host, status=DomainStatus.ACTIVE)
    return rivals.exclude(pk=domain.pk).exists()
