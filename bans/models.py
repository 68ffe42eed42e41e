from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.models import Workspace
from bans.hosts import CANONICAL_HOST


class Ban(models.Model):
    """An operator's ban of a host with its subdomains, or of all links of a workspace.

    A ban changes no link and no domain. Each lookup checks the bans, so lifting a ban restores the previous state
    exactly.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    host = models.CharField(
        max_length=255,
        unique=True,
        null=True,
        blank=True,
        help_text="Canonical destination host. The ban includes its subdomains.",
        db_comment="Banned host with its subdomains; null: a ban of a workspace.",
    )
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.OneToOneField(
        Workspace,
        on_delete=models.CASCADE,
        related_name="ban",
        db_constraint=False,
        null=True,
        blank=True,
        help_text="Blocks all links of the workspace. To block sign-in, disable the account, too.",
        db_comment="Workspace whose links are banned; null: a ban of a host.",
    )
    reason = models.CharField(max_length=500, blank=True, db_comment="The operator's note.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = "Operators' bans of destination hosts and of workspaces' links."
        constraints = [
            models.CheckConstraint(
                name="ban_of_host_or_owner",
                condition=models.Q(host__isnull=False, owner=None) | models.Q(host=None, owner__isnull=False),
            ),
            models.CheckConstraint(
                name="ban_host_canonical",
                condition=models.Q(host=None) | models.Q(host__regex=CANONICAL_HOST),
                violation_error_message="Not a canonical host.",
            ),
        ]

    def __str__(self) -> str:
        return self.host or str(self.owner)
