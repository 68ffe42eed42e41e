"""Withdraws invitations, which the history of the workspace records."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from accounts.rights import Role

# Runs in the caller's transaction, which names the author.
_WITHDRAW = """
DELETE FROM accounts_invitation
WHERE workspace_id = %(workspace)s AND (
    public_id = %(invitation)s OR invited_by_id = %(inviter)s AND role = coalesce(%(role)s, role)
)
RETURNING accounts_record_change(
    workspace_id, public_id, 'invitation.withdrawn', jsonb_build_object('role', role), '{}'
)
"""


def withdraw_invitations(
    workspace_id: int,
    *,
    public_id: UUID | None = None,
    inviter_id: int | None = None,
    role: Role | None = None,
) -> int:
    """Withdraw the invitation with this id, or all of this inviter, and return their number.

    With ``role``, withdraw only those invitations of the inviter that offer this role.
    """
    values = {"workspace": workspace_id, "invitation": public_id, "inviter": inviter_id, "role": role}
    with connection.cursor() as cursor:
        cursor.execute(_WITHDRAW, values)
        return int(cursor.rowcount)
