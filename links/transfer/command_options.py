"""Options that the commands for moving in and out share. Raises CommandError for wrong values."""

from __future__ import annotations

from django.core.management.base import CommandError

from accounts.callers import personal_workspace
from accounts.models import Workspace
from accounts.selectors import user_of_email
from domains.models import Domain


def owner_of_email(email: str) -> Workspace:
    """The personal workspace of an account."""
    account = user_of_email(email)
    if account is None:
        raise CommandError(f"There is no account {email}.")
    return personal_workspace(account)


def domain_with_host(owner: Workspace, host: str) -> Domain:
    """The owner's active domain with this host, in any case."""
    for domain in Domain.objects.usable_by(owner):
        if domain.host == host.lower():
            return domain
    raise CommandError(f"{host} is not an active domain of {owner}.")
