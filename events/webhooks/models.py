from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Value
from django.db.models.functions import Now

from accounts.models import Workspace
from common.ids import new_public_id

MAX_NAME = 100


def _array(of: models.Field[Any, Any], comment: str) -> ArrayField[Any, Any]:
    none = Value([], output_field=ArrayField(of))
    return ArrayField(of, default=list, db_default=none, db_comment=comment)


class Format(models.TextChoices):
    """How a message looks, and where it goes."""

    STANDARD = "standard", "Standard Webhooks"
    SLACK = "slack", "Slack"
    DISCORD = "discord", "Discord"
    TEAMS = "teams", "Microsoft Teams"
    MAIL = "mail", "Mail"


class DisabledReason(models.TextChoices):
    """Why the service sends nothing to an endpoint any more."""

    MANUAL = "manual", "An admin disabled it"
    GONE = "gone", "It answered 410"
    FAILING = "failing", "Nothing but failures for days"


class DeliveryStatus(models.TextChoices):
    PENDING = "pending", "Pending"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class Webhook(models.Model):
    """An endpoint to which events of a workspace are sent."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_constraint=False,
        related_name="+",
        db_comment="The workspace.",
    )
    name = models.CharField(max_length=MAX_NAME, db_comment="For people.")
    format = models.CharField(max_length=8, choices=Format, db_comment="How messages look.")
    sealed_url = models.BinaryField(null=True, db_comment="The address, encrypted. Null: mails.")
    host = models.CharField(max_length=253, null=True, db_comment="That of the address. Null: mails.")
    member_ids = _array(models.UUIDField(), "API ids of the members who get mails.")
    types = _array(models.TextField(), "Types of events.")
    tags = _array(models.TextField(), "Only links with one of these tags. Empty: all.")
    url_ids = _array(models.UUIDField(), "API ids of links. Empty: all.")
    domain_ids = _array(models.TextField(), "API ids of domains, or base. Empty: all.")
    sealed_secret = models.BinaryField(null=True, db_comment="Signs messages, encrypted. Null: not signed.")
    former_secret = models.BinaryField(
        null=True, db_comment="The secret before the last rotation, encrypted."
    )
    former_secret_until = models.DateTimeField(
        null=True, db_comment="Until when the former secret signs, too."
    )
    disabled_reason = models.CharField(
        max_length=8, choices=DisabledReason, null=True, db_comment="manual, gone or failing. Null: enabled."
    )
    disabled_at = models.DateTimeField(null=True, db_comment="When it was disabled. Null: enabled.")
    failing_since = models.DateTimeField(
        null=True, db_comment="First failure since the last success. Null: none."
    )
    failed_at = models.DateTimeField(null=True, db_comment="Last failure since the last success.")
    paused_until = models.DateTimeField(null=True, db_comment="Until when it asked to be left alone.")
    seconds = models.FloatField(null=True, db_comment="How long it takes to answer. Null: not known yet.")
    claimed_at = models.DateTimeField(null=True, db_comment="When a delivery was last leased.")
    grouped_at = models.DateTimeField(null=True, db_comment="When a group of events was last leased.")
    grouped_clicks = models.BooleanField(null=True, db_comment="Whether the last group had clicks.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(auto_now=True, editable=False, db_comment="Last change by people.")

    class Meta:
        db_table_comment = "Endpoints of workspaces, to which events are sent."

    def __str__(self) -> str:
        return self.name

    @property
    def is_enabled(self) -> bool:
        return self.disabled_reason is None


class CursorKind(models.TextChoices):
    """Events with few and with many rows are read separately, so that clicks delay nothing else."""

    CHANGES = "changes", "Everything but clicks"
    CLICKS = "clicks", "Clicks"
    REPLAY = "replay", "Events that are sent again"


class Cursor(models.Model):
    """Up to where the events of a workspace have become deliveries of an endpoint."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    webhook = models.ForeignKey(
        Webhook,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="cursors",
        db_comment="The endpoint.",
    )
    kind = models.CharField(max_length=7, choices=CursorKind, db_comment="changes, clicks or replay.")
    position = models.BigIntegerField(db_comment="Position of the last event.")
    event_id = models.UUIDField(db_comment="Id of the last event.")
    until = models.BigIntegerField(null=True, db_comment="Of a replay: the first position that is not sent.")
    begins_at = models.DateTimeField(null=True, db_comment="Of a replay: time of the first event.")
    ends_at = models.DateTimeField(null=True, db_comment="Of a replay: events before this time.")
    types = _array(models.TextField(), "Of a replay: types of events.")
    next_at = models.DateTimeField(db_default=Now(), db_comment="When events are next read.")

    class Meta:
        db_table_comment = "Up to where events have become deliveries."
        constraints = [models.UniqueConstraint(fields=["webhook", "kind"], name="cursor_webhook_kind")]
        indexes = [models.Index(fields=["id"], condition=models.Q(kind="replay"), name="cursor_replay")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.webhook_id}"


class Delivery(models.Model):
    """A message to an endpoint. Its body is written from the events when it is sent."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    webhook = models.ForeignKey(
        Webhook,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="deliveries",
        db_comment="The endpoint.",
    )
    message_id = models.UUIDField(db_comment="The webhook-id: that of the event, or of the group.")
    type = models.TextField(db_comment="Type of the first event.")
    is_group = models.BooleanField(default=False, db_comment="Whether the message may have several events.")
    is_test = models.BooleanField(default=False, db_comment="Whether its event is an example.")
    is_replay = models.BooleanField(default=False, db_comment="Whether a replay made it.")
    event_ids = _array(models.UUIDField(), "The events. Empty: a test.")
    positions = _array(models.BigIntegerField(), "Their positions.")
    first_time = models.DateTimeField(db_comment="Time of the first event, for the partition.")
    last_time = models.DateTimeField(db_comment="Time of the last event.")
    status = models.CharField(
        max_length=9,
        choices=DeliveryStatus,
        default=DeliveryStatus.PENDING,
        db_comment="pending, delivered or failed.",
    )
    attempts = models.SmallIntegerField(default=0, db_comment="How often it was leased.")
    next_at = models.DateTimeField(db_default=Now(), db_comment="When it is due, if it is pending.")
    leased_until = models.DateTimeField(null=True, db_comment="Until when a process may be sending it.")
    sent_at = models.DateTimeField(null=True, db_comment="When the last attempt ended. Null: not yet.")
    http_status = models.SmallIntegerField(null=True, db_comment="Of the last answer. Null: none.")
    error = models.TextField(null=True, db_comment="Why there was no answer.")
    seconds = models.FloatField(null=True, db_comment="Duration of the last attempt.")
    answer = models.TextField(null=True, db_comment="The beginning of the last answer.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")

    class Meta:
        db_table_comment = "Messages to endpoints."
        indexes = [
            models.Index(fields=["webhook", "id"], name="delivery_webhook"),
            models.Index(
                fields=["webhook", "next_at", "id"],
                condition=models.Q(status="pending"),
                name="delivery_pending",
            ),
            models.Index(
                fields=["webhook"], condition=models.Q(leased_until__isnull=False), name="delivery_leased"
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)
