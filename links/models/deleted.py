"""Deleted links that their owners can still restore."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class DeletedLink(models.Model):
    """The data that restore a deleted link: its row, its codes and its clicks.

    While this row exists, the link's routes, bans, visitors, clicks and roll-ups stay in their tables, and its owner
    keeps its codes. When the row is deleted without an undeletion, triggers delete the rest. Analytics and QR codes
    have their own triggers.
    """

    link_id = models.BigIntegerField(primary_key=True, db_comment="Internal key of the link.")
    public_id = models.UUIDField(unique=True, db_comment="API id of the link.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        "accounts.Workspace", on_delete=models.CASCADE, db_constraint=False, db_comment="Owner of the link."
    )
    deleted_at = models.DateTimeField(db_default=Now(), db_index=True, db_comment="Time of the deletion.")
    link = models.JSONField(db_comment="The row of links_link.")
    codes = models.JSONField(db_comment="The rows of links_code: domain_id, code and kind.")
    clicks = models.BigIntegerField(db_comment="All clicks, imported ones included.")
    imported = models.BigIntegerField(db_comment="Clicks of imports, part of clicks.")

    class Meta:
        db_table_comment = "Deleted links that can be brought back for some days."

    def __str__(self) -> str:
        return str(self.public_id)
