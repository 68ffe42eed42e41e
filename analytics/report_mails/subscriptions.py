"""Which reports of a workspace a member gets by mail, and the links in mails that end them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings
from django.core.signing import BadSignature, Signer

from accounts.mails import NoMail
from accounts.models import User, Workspace
from analytics.models import ReportMail
from common.database import in_one_transaction

PATH = "/reports/unsubscribe/"


class Subscription(StrEnum):
    """What a member can choose. The values are columns of the model."""

    WEEKLY = "weekly"
    MONTHLY = "monthly"
    ALERTS = "alerts"


class Choice(NamedTuple):
    weekly: bool
    monthly: bool
    alerts: bool


def chosen(owner: Workspace, user: User) -> Choice:
    row = ReportMail.objects.filter(owner=owner, user=user).first()
    return Choice(False, False, False) if row is None else Choice(row.weekly, row.monthly, row.alerts)


def choose(owner: Workspace, user: User, choices: Mapping[str, bool]) -> Choice:
    """Keeps what ``choices`` does not have. Raises NoMail if it turns on mails that nobody could send."""
    if any(choices.values()) and not settings.SENDS_MAIL:
        raise NoMail

    def work() -> None:
        row, _ = ReportMail.objects.select_for_update().get_or_create(owner=owner, user=user)
        for name, value in choices.items():
            setattr(row, name, value)
        if row.weekly or row.monthly or row.alerts:
            row.save(update_fields=list(choices))
        else:
            row.delete()

    in_one_transaction(work)
    return chosen(owner, user)


def unsubscribe_address(report_mail: int, subscription: Subscription) -> str:
    token = _signer().sign(f"{report_mail}.{subscription}")
    return f"{settings.BASE_URL}{PATH}{token}"


def subscription_of(token: str) -> tuple[int, Subscription] | None:
    """None: nobody has signed the token."""
    try:
        number, _, name = _signer().unsign(token).partition(".")
    except BadSignature:
        return None
    return int(number), Subscription(name)


def end(report_mail: int, subscription: Subscription) -> None:
    """Does nothing if it has ended."""
    ReportMail.objects.filter(pk=report_mail).update(**{subscription.value: False})
    ReportMail.objects.filter(pk=report_mail, weekly=False, monthly=False, alerts=False).delete()


def _signer() -> Signer:
    """Accepts former secrets, too: mails are kept for long, and who knows such a secret can only end subscriptions."""
    return Signer(salt="analytics.report_mails")
