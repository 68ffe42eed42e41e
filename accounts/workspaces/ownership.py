"""The limits on the workspaces that an account owns or joins, checked wherever a membership or an owner is added."""

from __future__ import annotations

from django.conf import settings

from accounts.caps import lock_account
from accounts.models import Member, User
from accounts.rights import Role
from common.errors import Forbidden

# The list of workspaces is not paginated.
MAX_MEMBERSHIPS = 1_000


class TooManyMemberships(Forbidden):
    code = "quota_exceeded"
    message = f"An account may be a member of at most {MAX_MEMBERSHIPS} workspaces."


class TooManyWorkspaces(Forbidden):
    code = "quota_exceeded"

    def __init__(self, cap: int) -> None:
        super().__init__(f"An account may own at most {cap} workspaces besides its personal one.")


def require_free_ownership(account: User) -> None:
    """Lock the account's row and count its workspaces: the count is valid until the transaction ends.

    A caller that also locks the workspace does so before, so that no two transactions wait for each other. Raises
    TooManyWorkspaces.
    """
    lock_account(account.pk)
    cap = settings.WORKSPACES_PER_ACCOUNT
    owned = Member.objects.filter(user=account, role=Role.OWNER, workspace__account=None)
    if cap and owned.count() >= cap:
        raise TooManyWorkspaces(cap)


def require_free_membership(account: User) -> None:
    """As `require_free_ownership`, for every membership. Raises TooManyMemberships."""
    lock_account(account.pk)
    if Member.objects.filter(user=account).count() >= MAX_MEMBERSHIPS:
        raise TooManyMemberships
