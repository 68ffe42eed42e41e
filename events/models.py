from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Value

from accounts.models import Workspace
from events.fields import Json
from events.webhooks import models as _webhooks  # noqa: F401 # Django looks for all models of an app here

_NONE = Value([], output_field=ArrayField(models.TextField()))


class Event(models.Model):
    """What happened in a workspace, stored in the transaction of the change. The table is partitioned by day.

    Readers take events in the order of ``position`` and ``id``, and only those below ``events_horizon()``: all
    transactions with a lower position have ended, so none can add an event before one that was read.
    """

    id = models.UUIDField(primary_key=True, db_comment="API id: a UUIDv7.")
    position = models.BigIntegerField(db_comment="Transaction id, raised by the offset of events_offset.")
    workspace_id = models.BigIntegerField(db_comment="Workspace.")
    type = models.TextField(db_comment="Kind of object and of event: link.created.")
    link_id = models.BigIntegerField(
        null=True, db_comment="Link, for filters; it may be deleted. Null: none."
    )
    time = models.DateTimeField(db_comment="When it was stored.")
    data = Json(db_comment="What the event says: see the guide.")

    class Meta:
        db_table_comment = "Events of workspaces that listen."
        indexes = [
            models.Index(fields=["workspace_id", "position", "id"], name="event_workspace_position"),
            models.Index(fields=["position"], name="event_position"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class Listener(models.Model):
    """The types of events that a workspace wants. Events of other types, and of other workspaces, are not stored.

    A trigger deletes a row that wants none: each creation of a link asks whether this table is empty.
    """

    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    workspace = models.OneToOneField(
        Workspace,
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="+",
        db_comment="The workspace.",
    )
    feed_types = ArrayField(
        models.TextField(), default=list, db_default=_NONE, db_comment="Types for its feed."
    )
    webhook_types = ArrayField(
        models.TextField(), default=list, db_default=_NONE, db_comment="Types for its webhooks."
    )

    class Meta:
        db_table_comment = "Workspaces that listen to events."
