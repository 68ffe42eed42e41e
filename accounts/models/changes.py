"""The history of changes."""

from __future__ import annotations

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models.functions import Now

from common.http.current_request import Via


class HistorySize(models.Model):
    """About the size of a history: of its rows, those that were deleted for their age may still be counted.

    A migration creates the foreign key, with ON DELETE CASCADE.
    """

    owner = models.OneToOneField(
        "accounts.Workspace",
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="+",
        db_constraint=False,
        db_comment="The workspace.",
    )
    bytes = models.BigIntegerField(db_comment="At least the bytes of its changes up to counted_to.")
    counted_to = models.BigIntegerField(db_comment="The last change that was added to bytes.")

    class Meta:
        db_table_comment = "About the size of the history of each workspace, for housekeeping."


class Change(models.Model):
    """One change of a link, a domain, a key, a session or an account, written in the transaction of the change.

    Triggers and services write the rows with the SQL function ``accounts_record_change``. Another trigger deletes them
    with their owner. ``before`` and ``after`` have the changed fields with the names and values of the API, without
    secrets and addresses. The foreign keys have no constraint: the history outlives its actors, and a change must not
    lock their rows.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(db_default=RandomUUID(), editable=False, db_comment="API id.")
    owner = models.ForeignKey(
        "accounts.Workspace",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
        db_comment="Owner of the changed object.",
    )
    changed_at = models.DateTimeField(db_default=Now(), db_comment="Time of the change.")
    actor = models.ForeignKey(
        "accounts.User",
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        db_comment="The account that made the change; it may be deleted. Null: the service.",
    )
    via = models.CharField(
        max_length=10,
        choices=[(via.value, via.value) for via in Via],
        db_comment="api_key, token, operator (in the admin), page (under /accounts/) or service.",
    )
    key_id = models.UUIDField(
        null=True, db_comment="API id of the key with scopes that the actor used; it may be deleted."
    )
    request_id = models.CharField(max_length=64, db_comment="X-Request-ID; empty without a request.")
    object_id = models.UUIDField(db_comment="API id of the changed object; it may be deleted.")
    action = models.CharField(max_length=40, db_comment="Kind of object and of change: link.updated.")
    before = models.JSONField(db_comment="Former values of the changed fields.")
    after = models.JSONField(db_comment="New values of the changed fields.")

    class Meta:
        db_table_comment = "Who changed what: one row for each change."
        indexes = [
            models.Index(fields=["owner", "id"], name="change_owner"),
            models.Index(fields=["owner", "actor", "id"], name="change_owner_actor"),
            models.Index(fields=["owner", "action", "id"], name="change_owner_action"),
            models.Index(fields=["object_id", "id"], name="change_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_id}"
