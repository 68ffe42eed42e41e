"""Stores what became of an attempt, and what it says about the endpoint."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from accounts.models import Member
from accounts.rights import Role
from common.database import fetch, in_one_transaction
from events import outbox
from events.types import EventType
from events.webhooks.models import DeliveryStatus, DisabledReason, Webhook
from events.webhooks.retries import DISABLED_AFTER, FORGOTTEN_AFTER, delay_after

# What is kept of an answer.
ANSWER_BYTES = 1024
_GONE = 410
# How much the last answer counts against those before it, unless it is slower.
_WEIGHT = 0.3

# Not if another process has leased the delivery since.
_STORE = """
UPDATE events_delivery SET status = %(status)s, next_at = %(next_at)s, leased_until = NULL, sent_at = %(now)s,
    http_status = %(http_status)s, error = %(error)s, seconds = %(seconds)s, answer = %(answer)s
WHERE id = %(id)s AND attempts = %(attempts)s AND status = 'pending'
RETURNING id
"""


class Outcome(NamedTuple):
    """``http_status`` None: there was no answer, and ``error`` says why. ``wait``: what Retry-After asks for.

    ``is_ours``: the attempt has failed before it reached the receiver, and says nothing about the endpoint.
    """

    delivery: int
    attempts: int
    webhook: int
    http_status: int | None
    error: str | None
    seconds: float
    answer: bytes = b""
    wait: timedelta | None = None
    is_ours: bool = False

    @property
    def succeeded(self) -> bool:
        return self.error is None and (self.http_status is None or 200 <= self.http_status < 300)


def store(outcome: Outcome) -> Webhook | None:
    """Returns the endpoint if this has disabled it."""
    return in_one_transaction(lambda: _store(outcome))


def _store(outcome: Outcome) -> Webhook | None:
    # The same order of locks as in a lease.
    webhook = Webhook.objects.select_for_update(no_key=True).filter(pk=outcome.webhook).first()
    if webhook is None:
        return None
    [[now]] = fetch("SELECT now()")
    is_gone = outcome.http_status == _GONE
    delay = delay_after(outcome.attempts) if webhook.is_enabled and not is_gone else None
    if outcome.succeeded:
        status, next_at = DeliveryStatus.DELIVERED, now
    elif delay is None:
        status, next_at = DeliveryStatus.FAILED, now
    else:
        status, next_at = DeliveryStatus.PENDING, now + max(delay, outcome.wait or delay)
    values = {
        "id": outcome.delivery,
        "attempts": outcome.attempts,
        "status": status.value,
        "next_at": next_at,
        "now": now,
        "http_status": outcome.http_status,
        "error": outcome.error,
        "seconds": outcome.seconds,
        # PostgreSQL stores no NUL.
        "answer": outcome.answer[:ANSWER_BYTES].decode(errors="replace").replace("\0", "\ufffd"),
    }
    if not fetch(_STORE, values):
        return None
    changes = _health(webhook, outcome, now)
    reason = DisabledReason.GONE if is_gone else _reason_to_disable(changes, now)
    if reason is not None and webhook.is_enabled:
        changes |= {"disabled_reason": reason, "disabled_at": now}
    if changes:
        Webhook.objects.filter(pk=webhook.pk).update(**changes)
    if "disabled_reason" not in changes:
        return None
    webhook.disabled_reason = reason
    data = {"webhook": {"id": str(webhook.public_id), "name": webhook.name, "disabledReason": reason}}
    outbox.emit(webhook.workspace_id, EventType.WEBHOOK_DISABLED, data)
    return webhook


def _health(webhook: Webhook, outcome: Outcome, now: datetime) -> dict[str, Any]:
    before = webhook.seconds
    seconds = outcome.seconds
    if before is not None and seconds < before:
        seconds = before + _WEIGHT * (seconds - before)
    changes: dict[str, Any] = {"seconds": seconds}
    if outcome.is_ours:
        return changes if outcome.seconds else {}
    if outcome.succeeded:
        return changes | {"failing_since": None, "failed_at": None, "paused_until": None}
    is_first = webhook.failed_at is None or now - webhook.failed_at > FORGOTTEN_AFTER
    changes |= {"failing_since": now if is_first else webhook.failing_since, "failed_at": now}
    if outcome.wait is not None:
        changes["paused_until"] = now + outcome.wait
    return changes


def _reason_to_disable(changes: dict[str, Any], now: datetime) -> DisabledReason | None:
    since = changes.get("failing_since")
    return DisabledReason.FAILING if since is not None and now - since >= DISABLED_AFTER else None


def admins_of(workspace: int) -> list[Member]:
    """Who is told of a disabled endpoint."""
    admins = Member.objects.filter(
        workspace=workspace, role__in=[Role.ADMIN, Role.OWNER], user__is_active=True
    )
    return list(admins.select_related("user", "workspace").order_by("user_id"))
