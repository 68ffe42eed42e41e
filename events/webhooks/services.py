"""Creates, changes and deletes endpoints, rotates their secrets, and sends messages once more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models.functions import Now
from django.dispatch import receiver

from accounts.caps import lock_count
from accounts.history import name_author, record_change
from accounts.mails import NoMail
from accounts.models import Member, Workspace
from accounts.workspaces import workspace_deleted
from common.database import execute, in_one_transaction, refusing
from common.errors import Conflict, FieldError, Forbidden, InvalidFields
from common.http.urls import Destination
from common.ids import new_public_id
from events.webhooks.models import Delivery, DeliveryStatus, DisabledReason, Format, Webhook
from events.webhooks.secrets import new_secret, seal
from events.webhooks.selectors import get_delivery, get_webhook

FORMER_SECRET_HOURS = 24
# The constraint that allows an endpoint one replay at a time.
_CURSOR = "cursor_webhook_kind"

# Events of this transaction and of those that have not ended are sent anyway.
_REPLAY = """
INSERT INTO events_cursor (webhook_id, kind, position, event_id, until, begins_at, ends_at, types)
VALUES (
    %(webhook)s, 'replay', 0, '00000000-0000-0000-0000-000000000000', events_horizon(), %(begins)s, %(ends)s,
    %(types)s
)
"""


class TooManyWebhooks(Forbidden):
    code = "quota_exceeded"

    def __init__(self, cap: int) -> None:
        super().__init__(f"A workspace may have at most {cap} webhooks. Delete one first.")


class NoRequests(Conflict):
    code = "outbound_off"
    message = "This service sends no requests to other hosts: its operator has set OUTBOUND=off."


class WebhookDisabled(Conflict):
    code = "webhook_disabled"
    message = "The webhook is disabled. Enable it first."


class ReplayRunning(Conflict):
    code = "replay_running"
    message = "Events are being replayed to this webhook already. Try again when that is done."


class NotSigned(Conflict):
    code = "not_signed"
    message = "Only webhooks of the format standard have a secret."


class NewWebhook(NamedTuple):
    webhook: Webhook
    secret: str | None


# Those that depend on the format, the members or the settings.
RULES = {
    "url": FieldError("url", "missing", "Required, except with the format mail."),
    "no_url": FieldError("url", "mail", "Mails go to members, not to a URL."),
    "members": FieldError("memberIds", "missing", "Choose the members who get the mails."),
    "no_members": FieldError("memberIds", "no_mail", "Only with the format mail."),
    "unknown_member": FieldError("memberIds", "not_a_member", "Each must be a member of the workspace."),
    "not_https": FieldError("url", "not_https", "The address must start with https://."),
}


def create_webhook(
    *, owner: Workspace, url: Destination | None = None, is_enabled: bool = True, **fields: Any
) -> NewWebhook:
    """Raises InvalidFields, TooManyWebhooks, NoMail or NoRequests."""
    of_format = Format(fields["format"])
    webhook = Webhook(workspace=owner, public_id=new_public_id(), **_columns(fields))
    if of_format is Format.MAIL:
        if not settings.SENDS_MAIL:
            raise NoMail
        _refuse("no_url" if url is not None else None if webhook.member_ids else "members")
    else:
        if not settings.OUTBOUND:
            raise NoRequests
        _refuse("no_members" if webhook.member_ids else "url" if url is None else None)
    _set_url(webhook, url)
    _refuse_strangers(owner, webhook.member_ids)
    secret = new_secret() if of_format is Format.STANDARD else None
    webhook.sealed_secret = None if secret is None else seal(secret, webhook.public_id)

    def work() -> None:
        name_author()
        lock_count(owner)
        cap = settings.WEBHOOKS_PER_WORKSPACE
        if Webhook.objects.filter(workspace=owner).count() >= cap:
            raise TooManyWebhooks(cap)
        webhook.save(force_insert=True)
        if not is_enabled:
            _disable(webhook)

    in_one_transaction(work)
    webhook.refresh_from_db()
    return NewWebhook(webhook, secret)


def change_webhook(*, owner: Workspace, public_id: str, changes: Mapping[str, Any]) -> Webhook:
    """Raises NotFound or InvalidFields."""
    fields = dict(changes)
    url, is_enabled = fields.pop("url", None), fields.pop("is_enabled", None)
    columns = _columns(fields)

    def work() -> None:
        name_author()
        webhook = get_webhook(owner, public_id, lock=True)
        is_mail = webhook.format == Format.MAIL
        _refuse("no_url" if is_mail and url is not None else None)
        if "member_ids" in columns:
            members = columns["member_ids"]
            _refuse(None if bool(members) == is_mail else "members" if is_mail else "no_members")
            _refuse_strangers(owner, members)
        for name, value in columns.items():
            setattr(webhook, name, value)
        changed = [*columns, "updated_at"]
        if url is not None:
            _set_url(webhook, url)
            changed += ["sealed_url", "host", "seconds", "failing_since", "failed_at", "paused_until"]
            webhook.seconds = webhook.failing_since = webhook.failed_at = webhook.paused_until = None
        webhook.save(update_fields=changed)
        if is_enabled is True and not webhook.is_enabled:
            _enable(webhook)
        elif is_enabled is False and webhook.is_enabled:
            _disable(webhook)

    in_one_transaction(work)
    return get_webhook(owner, public_id)


def delete_webhook(*, owner: Workspace, public_id: str) -> None:
    """Raises NotFound."""

    def work() -> None:
        name_author()
        get_webhook(owner, public_id, lock=True).delete()

    in_one_transaction(work)


def rotate_secret(*, owner: Workspace, public_id: str) -> NewWebhook:
    """The former secret signs as well for a day, so that receivers can change theirs. Raises NotFound or NotSigned."""
    secret = new_secret()

    def work() -> None:
        name_author()
        webhook = get_webhook(owner, public_id, lock=True)
        if webhook.sealed_secret is None:
            raise NotSigned
        Webhook.objects.filter(pk=webhook.pk).update(
            former_secret=webhook.sealed_secret,
            former_secret_until=Now() + timedelta(hours=FORMER_SECRET_HOURS),
            sealed_secret=seal(secret, webhook.public_id),
        )
        record_change(owner_id=owner.pk, object_id=webhook.public_id, action="webhook.secret_rotated")

    in_one_transaction(work)
    return NewWebhook(get_webhook(owner, public_id), secret)


def send_test(*, owner: Workspace, public_id: str, of_type: str | None = None) -> Delivery:
    """Let the deliverer send an example. Raises NotFound or WebhookDisabled."""
    webhook = _enabled(owner, public_id)
    event = new_public_id()
    delivery = Delivery(
        webhook=webhook,
        message_id=event,
        type=of_type or webhook.types[0],
        is_test=True,
        first_time=Now(),
        last_time=Now(),
    )
    delivery.save(force_insert=True)
    delivery.refresh_from_db()
    return delivery


def resend(*, owner: Workspace, public_id: str, delivery_id: str) -> Delivery:
    """Let the deliverer send the same message again, with the same id. Raises NotFound or WebhookDisabled."""
    webhook = _enabled(owner, public_id)
    former = get_delivery(webhook, delivery_id)
    copied = (
        "message_id",
        "type",
        "is_group",
        "is_test",
        "event_ids",
        "positions",
        "first_time",
        "last_time",
    )
    delivery = Delivery(webhook=webhook, **{name: getattr(former, name) for name in copied})
    delivery.save(force_insert=True)
    delivery.refresh_from_db()
    return delivery


def replay(
    *,
    owner: Workspace,
    public_id: str,
    begins_at: datetime,
    ends_at: datetime,
    types: list[str] | None = None,
) -> None:
    """Let the deliverer send the stored events of this time that the endpoint wants, with the same ids.

    Raises NotFound, WebhookDisabled or ReplayRunning.
    """
    webhook = _enabled(owner, public_id)
    values = {"webhook": webhook.pk, "begins": begins_at, "ends": ends_at, "types": types or webhook.types}
    if Delivery.objects.filter(webhook=webhook, is_replay=True, status=DeliveryStatus.PENDING).exists():
        raise ReplayRunning
    with refusing(_CURSOR, ReplayRunning()):
        execute(_REPLAY, values)


@receiver(workspace_deleted)
def _delete_with_workspace(workspace: Workspace, **_: Any) -> None:
    """A cascade would record the deletions in the history after that has been deleted."""
    Webhook.objects.filter(workspace=workspace).delete()


def _enabled(owner: Workspace, public_id: str) -> Webhook:
    webhook = get_webhook(owner, public_id)
    if not webhook.is_enabled:
        raise WebhookDisabled
    return webhook


def _columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request, with the filters in columns of their own."""
    columns = dict(fields)
    filters = columns.pop("filters", None)
    if filters is not None:
        columns["tags"] = filters.get("tags", [])
        columns["url_ids"] = filters.get("urlIds", [])
        columns["domain_ids"] = filters.get("domainIds", [])
    return columns


def _set_url(webhook: Webhook, url: Destination | None) -> None:
    if url is None:
        return
    if not (settings.OUTBOUND_PLAIN_HTTP or url.href.startswith("https:")):
        _refuse("not_https")
    webhook.sealed_url, webhook.host = seal(url.href, webhook.public_id), url.host


def _refuse(rule: str | None) -> None:
    if rule is not None:
        raise InvalidFields([RULES[rule]])


def _refuse_strangers(owner: Workspace, members: list[str]) -> None:
    if members:
        known = Member.objects.filter(workspace=owner, user__public_id__in=members).count()
        _refuse(None if known == len(members) else "unknown_member")


def _disable(webhook: Webhook) -> None:
    webhook.disabled_reason = DisabledReason.MANUAL
    Webhook.objects.filter(pk=webhook.pk).update(disabled_reason=DisabledReason.MANUAL, disabled_at=Now())


def _enable(webhook: Webhook) -> None:
    cleared = ("disabled_reason", "disabled_at", "failing_since", "failed_at", "paused_until", "seconds")
    Webhook.objects.filter(pk=webhook.pk).update(**dict.fromkeys(cleared))
