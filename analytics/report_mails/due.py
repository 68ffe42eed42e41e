"""Decides who gets which report by mail, and sends it.

Any number of hosts may do this at once. A row for each mail decides who sends it: it is inserted before the mail is
sent, outside of a transaction. It has the time of the next attempt until the report is read, so a report that cannot
be read now is tried again, and a failure of the mail server sets that time, too. If a process is killed while it sends
a mail, nobody knows whether the server accepted it, and nobody sends it again.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from statistics import median
from typing import NamedTuple

from django.conf import settings

from accounts.mails import MailProblem, deliver
from analytics.models import ReportMail
from analytics.report_mails.mails import Alert, alert_mail, report_mail
from analytics.report_mails.subscriptions import Subscription
from common.database import execute, fetch
from common.errors import ServiceError

# Clicks of the last hours of a period have been counted by then.
SENT_FROM = time(6, 0)
# Unusual is this many times the usual number of clicks, or this part of it.
FACTOR = 3
# The usual number of clicks counts as at least this; below it, no drop is reported. Without any, nothing is usual.
LEAST_USUAL = 20
USUAL_WEEKS = 4
ATTEMPTS = 6
RETRY_MINUTES = 15
KEPT_DAYS = 70

_DAY = timedelta(days=1)
_IS_MEMBER = """
    JOIN accounts_user u ON u.id = s.user_id AND u.is_active
    JOIN accounts_member m ON m.workspace_id = s.owner_id AND m.user_id = s.user_id
"""
_DUE = f"""
SELECT s.id FROM analytics_reportmail s {_IS_MEMBER}
WHERE s.{{subscription}} AND s.created_at < %(end)s AND (%(owner)s::bigint IS NULL OR s.owner_id = %(owner)s)
    AND NOT EXISTS (
        SELECT FROM analytics_mailedreport r WHERE r.report_mail_id = s.id AND r.kind = %(kind)s
            AND r.period = %(period)s AND (r.retry_at IS NULL OR r.retry_at > %(now)s OR r.attempts >= %(most)s)
    )
ORDER BY s.id
"""  # noqa: S608 # composed of constants
# Somebody may have left or unsubscribed since the run began.
_CLAIM = f"""
INSERT INTO analytics_mailedreport AS r (report_mail_id, kind, period, attempts, retry_at)
SELECT s.id, %(kind)s, %(period)s, 1, %(now)s + %(wait)s FROM analytics_reportmail s {_IS_MEMBER}
WHERE s.id = %(id)s AND s.{{subscription}}
ON CONFLICT (report_mail_id, kind, period) DO UPDATE
    SET attempts = r.attempts + 1, retry_at = %(now)s + (r.attempts + 1) * %(wait)s
    WHERE r.retry_at <= %(now)s AND r.attempts < %(most)s
RETURNING attempts
"""  # noqa: S608 # composed of constants
# No other host has claimed the mail since.
_BEGIN = """
UPDATE analytics_mailedreport SET retry_at = NULL
WHERE report_mail_id = %(id)s AND kind = %(kind)s AND period = %(period)s AND attempts = %(attempts)s
"""
_FAIL = """
UPDATE analytics_mailedreport SET retry_at = %(now)s + attempts * %(wait)s
WHERE report_mail_id = %(id)s AND kind = %(kind)s AND period = %(period)s
"""
# Those of former members. The rows of mails go with them, or after a while.
_CLEAN = """
DELETE FROM analytics_reportmail s WHERE NOT EXISTS (
    SELECT FROM accounts_member m WHERE m.workspace_id = s.owner_id AND m.user_id = s.user_id
)
"""
_FORGET = "DELETE FROM analytics_mailedreport WHERE period < %(oldest)s"
# Those of large workspaces are added up already.
_CLICKS = """
WITH subscribed AS (
    SELECT DISTINCT s.owner_id, r.id AS rollup FROM analytics_reportmail s
    LEFT JOIN analytics_rollup r ON r.owner_id = s.owner_id AND r.is_complete WHERE s.alerts
)
SELECT owner_id, day, sum(clicks)::bigint FROM (
    SELECT owner_id, day, clicks FROM subscribed JOIN analytics_rolledday t ON t.link_id = -rollup
    UNION ALL
    SELECT owner_id, day, t.clicks FROM subscribed JOIN links_clickcounter c USING (owner_id)
    JOIN analytics_daytotal t USING (link_id) WHERE rollup IS NULL
) counted WHERE day = ANY(%(days)s) GROUP BY 1, 2
"""

log = logging.getLogger(__name__)


class _NoServerError(Exception):
    """Each further attempt would wait for the mail server, too, and so delay the rest of the housekeeping."""


class Due(NamedTuple):
    """A mail that members with the subscription get about the period. ``owner``: of this workspace only.

    Who subscribed at ``end`` or later does not get it.
    """

    subscription: Subscription
    kind: str
    period: date
    end: datetime
    owner: int | None = None
    alert: Alert | None = None


def send_due_reports() -> int:
    """Send the mails that are due, by the clock of the database. Returns their number."""
    if not settings.SENDS_MAIL:
        return 0
    [[now]] = fetch("SELECT clock_timestamp()")
    return send_due(now)


def send_due(now: datetime) -> int:
    execute(_CLEAN)
    execute(_FORGET, {"oldest": now.date() - KEPT_DAYS * _DAY})
    sent = 0
    try:
        for due in [*_reports(now), *_alerts(now)]:
            for number in _recipients(due, now):
                sent += _send(due, number, now)
    except _NoServerError:
        log.warning("The mail server does not respond. The remaining reports are mailed later.")
    return sent


def _reports(now: datetime) -> Iterator[Due]:
    """The last week and the last month, once all their clicks are counted."""
    ended = _last_ended(now)
    monday = ended - ended.weekday() * _DAY
    yield Due(Subscription.WEEKLY, "weekly", monday - 7 * _DAY, _midnight(monday))
    first = ended.replace(day=1)
    yield Due(Subscription.MONTHLY, "monthly", (first - _DAY).replace(day=1), _midnight(first))


def _last_ended(now: datetime) -> date:
    """The day (UTC) before which all clicks are counted."""
    return (now - timedelta(hours=SENT_FROM.hour)).astimezone(UTC).date()


def _alerts(now: datetime) -> Iterator[Due]:
    """A spike of today's clicks so far, and a drop of yesterday's."""
    if not ReportMail.objects.filter(alerts=True).exists():
        return
    today = now.astimezone(UTC).date()
    yesterday = _last_ended(now) - _DAY
    weeks = [timedelta(weeks=number) for number in range(1, USUAL_WEEKS + 1)]
    days = [day - week for day in (today, yesterday) for week in (timedelta(0), *weeks)]
    clicks: defaultdict[int, dict[date, int]] = defaultdict(dict)
    for owner, day, number in fetch(_CLICKS, {"days": days}):
        clicks[owner][day] = number
    for owner, by_day in clicks.items():
        for kind, day in (("spike", today), ("drop", yesterday)):
            found = by_day.get(day, 0)
            usual = round(median(by_day.get(day - week, 0) for week in weeks))
            is_unusual = (
                usual > 0 and found >= FACTOR * max(usual, LEAST_USUAL)
                if kind == "spike"
                else usual >= LEAST_USUAL and found * FACTOR <= usual
            )
            if is_unusual:
                alert = Alert(kind, day, found, usual)
                yield Due(Subscription.ALERTS, kind, day, _midnight(day + _DAY), owner, alert)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _recipients(due: Due, now: datetime) -> list[int]:
    values = {"kind": due.kind, "period": due.period, "end": due.end, "owner": due.owner, "now": now}
    values["most"] = ATTEMPTS
    return [number for (number,) in fetch(_DUE.format(subscription=due.subscription.value), values)]


def _send(due: Due, number: int, now: datetime) -> bool:
    """Whether the mail server accepted the mail. Another host may have claimed it meanwhile.

    Raises _NoServerError after the time of the next attempt has been set.
    """
    values = {"id": number, "kind": due.kind, "period": due.period, "now": now}
    values |= {"wait": timedelta(minutes=RETRY_MINUTES), "most": ATTEMPTS}
    claimed = fetch(_CLAIM.format(subscription=due.subscription.value), values)
    subscribed = ReportMail.objects.select_related("user", "owner").filter(pk=number).first()
    if not claimed or subscribed is None:
        return False
    [[attempts]] = claimed
    try:
        if due.alert is not None:
            mail = alert_mail(subscribed, due.alert)
        else:
            mail = report_mail(subscribed, due.subscription, due.period, due.end.date() - _DAY)
    except ServiceError as error:
        log.warning("A report for a mail cannot be read: %s", error)
        return False
    if not execute(_BEGIN, values | {"attempts": attempts}):
        return False
    problem = deliver(mail)
    if problem is None:
        return True
    execute(_FAIL, values)
    if problem is MailProblem.NO_RESPONSE:
        raise _NoServerError
    return False
