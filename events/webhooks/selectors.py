from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from accounts.models import Workspace
from common.errors import FieldError, InvalidFields, NotFound
from common.ids import find_by_public_id
from events.webhooks.messages import Occurred, body_of, text_of
from events.webhooks.models import Delivery, DeliveryStatus, Format, Webhook
from events.webhooks.parcels import events_of

BAD_CURSOR = FieldError("cursor", "invalid", "Must be the nextCursor of a page of this webhook.")


class Shown(NamedTuple):
    """A delivery with the body of its request. ``body`` None: its events are deleted."""

    delivery: Delivery
    host: str | None
    body: str | None

    @property
    def events(self) -> int:
        return len(self.delivery.event_ids) or 1

    @property
    def next_attempt(self) -> object:
        return self.delivery.next_at if self.delivery.status == DeliveryStatus.PENDING else None


class DeliveryPage(NamedTuple):
    deliveries: list[Shown]
    next_cursor: str | None


def list_webhooks(owner: Workspace) -> list[Webhook]:
    """All of them, the oldest first."""
    return list(Webhook.objects.filter(workspace=owner).order_by("pk"))


def get_webhook(owner: Workspace, public_id: str, *, lock: bool = False) -> Webhook:
    """``lock`` blocks other writers until the commit. Raises NotFound."""
    webhooks = Webhook.objects.select_for_update() if lock else Webhook.objects.all()
    webhook = find_by_public_id(webhooks.filter(workspace=owner), public_id)
    if webhook is None:
        raise NotFound("Webhook not found.")
    return webhook


def get_delivery(webhook: Webhook, public_id: str) -> Delivery:
    """Raises NotFound."""
    delivery = find_by_public_id(Delivery.objects.filter(webhook=webhook), public_id)
    if delivery is None:
        raise NotFound("Delivery not found.")
    return delivery


def list_deliveries(
    owner: Workspace,
    public_id: str,
    *,
    limit: int,
    cursor: str | None = None,
    status: str | None = None,
    type: str | None = None,  # noqa: A002 # the name of the parameter
) -> DeliveryPage:
    """A page, the newest first. Three queries, and one for a cursor. Raises NotFound or InvalidFields."""
    webhook = get_webhook(owner, public_id)
    deliveries = Delivery.objects.filter(webhook=webhook)
    if cursor is not None:
        last = find_by_public_id(deliveries, cursor)
        if last is None:
            raise InvalidFields([BAD_CURSOR])
        deliveries = deliveries.filter(pk__lt=last.pk)
    if status is not None:
        deliveries = deliveries.filter(status=status)
    if type is not None:
        deliveries = deliveries.filter(type=type)
    rows = list(deliveries.order_by("-pk")[: limit + 1])
    page = rows[:limit]
    following = str(page[-1].public_id) if len(rows) > limit else None
    return DeliveryPage(show(owner, webhook, page), following)


def show(owner: Workspace, webhook: Webhook, deliveries: Sequence[Delivery]) -> list[Shown]:
    """With the bodies of their requests. One query."""
    events = events_of([(one, owner.pk, owner.public_id) for one in deliveries])
    of_format = Format(webhook.format)
    return [Shown(one, webhook.host, _body(of_format, one, events.get(one.pk, []))) for one in deliveries]


def _body(of_format: Format, delivery: Delivery, events: Sequence[Occurred]) -> str | None:
    if not events:
        return None
    if of_format is Format.MAIL:
        return text_of(events)
    return body_of(of_format, delivery.message_id, events).decode()
