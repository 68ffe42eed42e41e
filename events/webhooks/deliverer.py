"""The process that sends messages: reads events, leases deliveries, and stores what became of them. It also runs the
clock, which emits what no change causes.

Only the main thread uses the database. The threads of one pool send to endpoints that answer quickly, those of the
other to endpoints that are slow or not known yet, so that slow ones delay only each other.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import monotonic

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import Error, connection
from django.utils.translation import gettext

from accounts.mails import deliver, mail_language, may_notify, signed_mail
from common.host import vitals
from common.host.metrics import count_database_error
from events import clock
from events.webhooks.fan_out import FanOut
from events.webhooks.leases import lease
from events.webhooks.models import Format, Webhook
from events.webhooks.outcomes import Outcome, admins_of, store
from events.webhooks.parcels import Parcel, pack, send_parcel, unsent

FAST_THREADS = 16
SLOW_THREADS = 8
# Without work, events wait at most so long.
_IDLE_SECONDS = 0.5
_TICK_SECONDS = 1.0

log = logging.getLogger(__name__)


class _Pool:
    def __init__(self, threads: int, *, slow: bool) -> None:
        self.threads, self.slow = threads, slow
        self.executor = ThreadPoolExecutor(threads)
        self.sending: dict[Future[Outcome | None], Parcel] = {}


class Deliverer:
    def __init__(self) -> None:
        self._pools = [_Pool(FAST_THREADS, slow=False), _Pool(SLOW_THREADS, slow=True)]
        self._fan_out = FanOut()
        # Attempts whose outcome is not stored yet.
        self._outcomes: list[Outcome] = []
        # A mail server may take its time.
        self._notices = ThreadPoolExecutor(1)
        self._ticks_at = 0.0

    def step(self) -> bool:
        """Do what can be done at once, and wait a moment for messages on their way. Returns whether there was work."""
        if monotonic() >= self._ticks_at:
            clock.tick()
            self._ticks_at = monotonic() + _TICK_SECONDS
        has_read = self._fan_out.step() > 0
        leased = sum(self._fill(pool) for pool in self._pools)
        sending = {future for pool in self._pools for future in pool.sending}
        if sending:
            wait(sending, _IDLE_SECONDS, FIRST_COMPLETED)
        self._collect()
        self._store()
        return has_read or bool(leased or sending)

    def close(self) -> None:
        """Wait for messages on their way: whoever sent them again would repeat them."""
        for pool in self._pools:
            pool.executor.shutdown(cancel_futures=True)
        self._collect()
        self._store()
        self._notices.shutdown()

    def _fill(self, pool: _Pool) -> int:
        formats = [of_format for of_format in Format if can_send(of_format)]
        free = pool.threads - len(pool.sending)
        leased = lease(free, formats, slow=pool.slow, threads=pool.threads) if free and formats else []
        for parcel in pack(leased):
            pool.sending[pool.executor.submit(send_parcel, parcel)] = parcel
        return len(leased)

    def _collect(self) -> None:
        for pool in self._pools:
            for future in [future for future in pool.sending if future.done()]:
                parcel = pool.sending.pop(future)
                if future.cancelled():
                    continue
                if (error := future.exception()) is not None:
                    # An attempt like others, so that it is not repeated without end.
                    log.error("A message could not be sent.", exc_info=error)
                    self._outcomes.append(unsent(parcel, f"The service failed: {type(error).__name__}."))
                elif (outcome := future.result()) is not None:
                    self._outcomes.append(outcome)

    def _store(self) -> None:
        while self._outcomes:
            disabled = store(self._outcomes[0])
            del self._outcomes[0]
            vitals.beat()
            if disabled is not None:
                for mail in _mails_to_admins(disabled):
                    self._notices.submit(deliver, mail)


def can_send(of_format: Format) -> bool:
    return bool(settings.SENDS_MAIL if of_format is Format.MAIL else settings.OUTBOUND)


def run(*, once: bool) -> None:
    """Without ``once``, runs until the process is stopped; otherwise until nothing is due."""
    deliverer = Deliverer()
    try:
        while True:
            has_worked = False
            try:
                has_worked = deliverer.step()
            except Error as error:
                count_database_error("background")
                if once:
                    raise
                log.warning("The delivery of events is waiting for the database: %s", error)
                connection.close()
            if not has_worked:
                if once:
                    return
                vitals.sleep(_IDLE_SECONDS)
    finally:
        deliverer.close()


def _mails_to_admins(webhook: Webhook) -> Iterator[EmailMessage]:
    if not settings.SENDS_MAIL:
        return
    for member in admins_of(webhook.workspace_id):
        if not may_notify(member.user):
            continue
        with mail_language(member.user):
            subject = gettext("A webhook has been disabled")
            text = gettext(
                "The webhook {name} of {host} has been disabled: it answered that it is gone, or every message has"
                " failed for days. Events are no longer sent to it. Enable it again once it works."
            ).format(name=webhook.name, host=webhook.host or settings.BASE_HOST)
            mail = signed_mail(member.user.email, subject, f"{text}\n\n{settings.BASE_URL}/dashboard/")
        yield mail
