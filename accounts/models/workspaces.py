"""Workspaces own links, domains and QR codes. Accounts act in them as members with a role."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

from accounts.rights import CallerKey, Plan, Role
from common.ids import new_public_id

INVITATION_DAYS = 7


class Workspace(models.Model):
    """The owner of links, domains, QR codes and quotas: an account's personal one, or that of a team.

    A trigger creates the personal workspace with the account. Both have the same number and the same public id. Teams
    take their numbers from the sequence of the accounts, so no team has the number of an account.
    """

    id = models.BigIntegerField(
        primary_key=True, db_comment="Internal key, from the sequence of the accounts."
    )
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    account = models.OneToOneField(
        "accounts.User",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="workspace",
        db_comment="The account of a personal workspace. Null: a team's workspace.",
    )
    name = models.CharField(max_length=100, db_comment="For people.")
    team_plan = models.CharField(
        "plan",
        max_length=10,
        choices=Plan,
        null=True,
        blank=True,
        db_column="plan",
        db_comment="free, pro or enterprise. Null: a personal workspace has the plan of its account.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    # The key with scopes by which the caller acts here. Services stay within its limits. Not a column.
    key: CallerKey | None = None

    class Meta:
        db_table_comment = "Workspaces: the owners of links, domains and QR codes."
        constraints = [
            models.CheckConstraint(
                name="workspace_personal_or_team",
                condition=models.Q(account__isnull=False, account=models.F("id"), team_plan=None)
                | models.Q(account=None, team_plan__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.name if self.account is None else self.account.email

    @property
    def is_personal(self) -> bool:
        return self.account_id is not None

    @property
    def plan(self) -> str:
        # Not through the descriptor if authentication has stored the account: it takes ten calls.
        account = self._state.fields_cache.get("account") or self.account
        return self.team_plan or Plan.FREE if account is None else account.plan


class StorageLimit(models.Model):
    """What a plan allows a workspace to store. Triggers of `links` and `qrcodes` compare."""

    plan = models.CharField(
        max_length=10, choices=Plan, primary_key=True, db_comment="free, pro or enterprise."
    )
    bytes = models.BigIntegerField(db_comment="Stored bytes that the plan allows.")

    class Meta:
        db_table_comment = "STORAGE_MB_* of the host that started last, for triggers. No row: no limit."


class Member(models.Model):
    """An account in a workspace. A personal workspace has one member, its account, as the owner."""

    pk = models.CompositePrimaryKey("workspace", "user")
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="members",
        db_comment="The workspace.",
    )
    user = models.ForeignKey(
        "accounts.User", on_delete=models.CASCADE, related_name="memberships", db_comment="The account."
    )
    role = models.CharField(max_length=10, choices=Role, db_comment="viewer, editor, admin or owner.")
    created_at = models.DateTimeField(db_default=Now(), db_comment="When the account joined.")

    class Meta:
        db_table_comment = "Members of workspaces and their roles."


class Invitation(models.Model):
    """An offer to join a workspace. Its acceptance deletes the row, so that it works once."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="invitations", db_comment="The workspace."
    )
    role = models.CharField(max_length=10, choices=Role, db_comment="The role of whoever accepts it.")
    email = models.EmailField(
        max_length=254, blank=True, db_comment="The account that may accept it, in lower case. Empty: any."
    )
    digest = models.BinaryField(max_length=32, unique=True, db_comment="SHA-256 digest of the token.")
    invited_by = models.ForeignKey(
        "accounts.User", on_delete=models.CASCADE, related_name="+", db_comment="The member who invited."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    expires_at = models.DateTimeField(
        db_default=Now() + timedelta(days=INVITATION_DAYS),
        editable=False,
        db_comment="When the token expires.",
    )

    class Meta:
        db_table_comment = "Pending invitations to workspaces."
