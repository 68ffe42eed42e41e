from __future__ import annotations

from accounts.models import User
from common.ids import parse_public_id
from domains.models import Domain, DomainStatus


def usable_domains(owner: User) -> list[Domain]:
    """The domains of an owner that a link may be put on, oldest first."""
    return list(Domain.objects.filter(owner=owner, status=DomainStatus.ACTIVE).order_by("created_at", "id"))


def usable_domain(owner: User, public_id: str) -> Domain | None:
    identifier = parse_public_id(public_id)
    if identifier is None:
        return None
    return Domain.objects.filter(owner=owner, status=DomainStatus.ACTIVE, public_id=identifier).first()


def count_domains(owner: User) -> int:
    return Domain.objects.filter(owner=owner).count()
