"""Options that the commands for moving in and out share. Raises CommandError for wrong values."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandError

from accounts.callers import personal_workspace
from accounts.models import Workspace
from accounts.selectors import user_of_email
from domains.models import Domain
from links.transfer.sealed_passwords import MAX_PASSPHRASE, MIN_PASSPHRASE


def owner_of_email(email: str) -> Workspace:
    """The personal workspace of an account."""
    account = user_of_email(email)
    if account is None:
        raise CommandError(f"There is no account {email}.")
    return personal_workspace(account)


def passphrase_in(file: Path | None) -> str | None:
    """The first line of a file: an argument or a variable would show in the list of processes."""
    if file is None:
        return None
    try:
        passphrase = file.read_text().partition("\n")[0]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"Cannot read {file}: {error}.") from None
    if not MIN_PASSPHRASE <= len(passphrase) <= MAX_PASSPHRASE:
        raise CommandError(f"A passphrase has from {MIN_PASSPHRASE} to {MAX_PASSPHRASE} characters.")
    return passphrase


def domain_with_host(owner: Workspace, host: str) -> Domain:
    """The owner's active domain with this host, in any case."""
    for domain in Domain.objects.usable_by(owner):
        if domain.host == host.lower():
            return domain
    raise CommandError(f"{host} is not an active domain of {owner}.")
