"""Makes leased deliveries ready to be sent, with everything that needs the database, and sends them without it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext

from accounts.mails import MailProblem, deliver, mail_language, signed_mail
from accounts.models import Member
from common.database import fetch
from common.outbound import OutboundError, send
from events.outbox import shown_data
from events.webhooks.leases import LEASE_SECONDS, Leased
from events.webhooks.messages import JSON_HEADERS, Occurred, body_of, text_of
from events.webhooks.models import Delivery, Format
from events.webhooks.outcomes import ANSWER_BYTES, Outcome
from events.webhooks.retries import requested_wait
from events.webhooks.samples import sample
from events.webhooks.secrets import signed_headers, unseal

SECONDS = 15.0
# A process that stood still since the lease must not send what another may be sending by now.
_STALE_SECONDS = LEASE_SECONDS - SECONDS - 15

_EVENTS = """
SELECT t.delivery, e.id, e.type, e.time, e.data::text
FROM unnest(%(deliveries)s::bigint[], %(workspaces)s::bigint[], %(positions)s::bigint[], %(events)s::uuid[])
    WITH ORDINALITY t (delivery, workspace, position, id, place)
JOIN events_event e ON e.workspace_id = t.workspace AND e.position = t.position AND e.id = t.id
WHERE e.time >= %(first)s AND e.time <= %(last)s
ORDER BY t.place
"""

log = logging.getLogger(__name__)


class Parcel(NamedTuple):
    """A delivery with its request, or with its mails. ``problem``: why it cannot be sent."""

    leased: Leased
    since: float
    url: str = ""
    body: bytes = b""
    secrets: Sequence[str] = ()
    mails: Sequence[EmailMessage] = ()
    problem: str | None = None


def events_of(deliveries: Sequence[tuple[Delivery | Leased, int, UUID]]) -> Mapping[int, list[Occurred]]:
    """The events of deliveries, each with its workspace and that one's API id, in their order. One query."""
    found: defaultdict[int, list[Occurred]] = defaultdict(list)
    stored = [(item, workspace) for item, workspace, _ in deliveries if not item.is_test]
    for item, _, name in deliveries:
        if item.is_test:
            found[item.id].append(sample(item.type, item.message_id, item.first_time, name))
    pairs = [
        (item.id, workspace, *pair)
        for item, workspace in stored
        for pair in zip(item.positions, item.event_ids, strict=True)
    ]
    if not pairs:
        return found
    values = {
        "deliveries": [delivery for delivery, _, _, _ in pairs],
        "workspaces": [workspace for _, workspace, _, _ in pairs],
        "positions": [position for _, _, position, _ in pairs],
        "events": [event for _, _, _, event in pairs],
        "first": min(item.first_time for item, _ in stored),
        "last": max(item.last_time for item, _ in stored),
    }
    names = {item.id: name for item, _, name in deliveries}
    for delivery, event, of_type, time, data in fetch(_EVENTS, values):
        found[delivery].append(
            Occurred(event, of_type, time, names[delivery], shown_data(orjson.loads(data)))
        )
    return found


def pack(leased: Sequence[Leased]) -> list[Parcel]:
    since = monotonic()
    events = events_of([(one, one.workspace, one.workspace_id) for one in leased])
    return [_pack(one, events.get(one.id, []))._replace(since=since) for one in leased]


def _pack(leased: Leased, events: Sequence[Occurred]) -> Parcel:
    parcel = Parcel(leased, 0.0)
    if not events:
        # Older events are deleted.
        return parcel._replace(problem="The events are no longer stored.")
    if leased.format is Format.MAIL:
        mails = _mails(leased, events)
        return parcel._replace(mails=mails, problem=None if mails else "None of the members is left.")
    sealed = [leased.sealed_url, leased.sealed_secret, leased.former_secret]
    opened = [None if text is None else unseal(text, leased.endpoint) for text in sealed]
    url, secrets = opened[0], [secret for secret in opened[1:] if secret is not None]
    if url is None or (leased.format is Format.STANDARD and opened[1] is None):
        return parcel._replace(problem="The secret of the installation has changed. Enter the address again.")
    body = body_of(leased.format, leased.message_id, events)
    return parcel._replace(url=url, body=body, secrets=secrets)


def _mails(leased: Leased, events: Sequence[Occurred]) -> list[EmailMessage]:
    """One for each of the endpoint's members who are still members. No other address ever gets one."""
    members = Member.objects.filter(
        workspace=leased.workspace, user__public_id__in=leased.member_ids, user__is_active=True
    )
    mails = []
    for member in members.select_related("user", "workspace").order_by("user_id"):
        with mail_language(member.user):
            address = f"{settings.BASE_URL}/dashboard/?workspace={member.workspace.public_id}"
            ending = gettext("You get this mail because of the webhook {name}.").format(name=leased.name)
            text = "\n\n".join([text_of(events), address, ending])
            # A header has no line breaks.
            subject = " ".join(leased.name.split())
            mails.append(signed_mail(member.user.email, subject, text))
    return mails


def unsent(parcel: Parcel, error: str) -> Outcome:
    """What became of a parcel that never reached its receiver."""
    leased = parcel.leased
    return Outcome(leased.id, leased.attempts, leased.webhook, None, error, 0.0, is_ours=True)


def send_parcel(parcel: Parcel) -> Outcome | None:
    """Send it and say what became of it. None: too late, another process may be sending it."""
    leased = parcel.leased
    started = monotonic()
    if started - parcel.since > _STALE_SECONDS:
        return None
    if parcel.problem is not None:
        return unsent(parcel, parcel.problem)
    outcome = Outcome(leased.id, leased.attempts, leased.webhook, None, None, 0.0)
    if parcel.mails:
        # One accepted mail is a success: a repetition would reach its reader twice.
        problems = [deliver(mail) for mail in parcel.mails]
        is_sent = None in problems
        return outcome._replace(
            error=None if is_sent else "The mail server did not accept the mail.",
            seconds=monotonic() - started,
            # Otherwise the operator's server refuses, or does not answer.
            is_ours=not (is_sent or MailProblem.ADDRESS in problems),
        )
    now = datetime.now(UTC)
    headers = dict(JSON_HEADERS)
    if parcel.secrets:
        headers |= signed_headers(parcel.secrets, leased.message_id, now, parcel.body.decode())
    try:
        answer = send(
            "POST", parcel.url, headers=headers, body=parcel.body, seconds=SECONDS, answer_bytes=ANSWER_BYTES
        )
    except OutboundError as error:
        seconds = monotonic() - started
        return outcome._replace(error=str(error), seconds=seconds, is_ours=error.reason in ("dns", "off"))
    return outcome._replace(
        http_status=answer.status,
        seconds=answer.seconds,
        answer=answer.body,
        wait=None if 200 <= answer.status < 300 else requested_wait(answer.headers, now),
    )
