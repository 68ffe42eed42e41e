"""Admission to work that occupies a thread for a while: limits of concurrent calls, and a short, fair queue."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Event, Lock

from django.db import Error

from common.errors import ServiceError, TooManyAttempts
from limits.rates import acquire_lease, release_lease

PER_ACCOUNT = 2
# Of costly calls and reports: keeps one of a worker's four threads free for other requests, and bounds its memory.
PER_PROCESS = 3
# A call whose worker was killed counts for this long. Every call finishes sooner.
LEASE_SECONDS = 120
# A page of the dashboard reads several reports at once.
REPORTS_PER_WORKSPACE = 8
# Those that anybody reads, and so nobody of the workspace waits for.
PUBLIC_REPORTS_PER_WORKSPACE = 2
# A report is a few statements, each of which the database ends sooner.
REPORT_SECONDS = 15
_RETRY_SECONDS = 2

PROCESS_PLACES = BoundedSemaphore(PER_PROCESS)


class TooManyAtOnce(TooManyAttempts):
    code = "too_many_at_once"
    message = "Too many calls of this kind are running. Try again when one of them has finished."

    def __init__(self, limit: int) -> None:
        super().__init__(_RETRY_SECONDS, limit=limit, window=_RETRY_SECONDS)


# For the OpenAPI description.
TOO_MANY_CALLS = TooManyAtOnce(PER_ACCOUNT)


@contextmanager
def costly_call(caller: int) -> Iterator[None]:
    """``caller``: the id of a `Caller`. Raises TooManyAtOnce without waiting. Enter it outside any transaction."""
    with _place_of_process(), _leased(f"costly calls of {caller}", PER_ACCOUNT, LEASE_SECONDS):
        yield


@contextmanager
def costly_report(workspace: int, *, is_public: bool = False) -> Iterator[None]:
    """Raises TooManyAtOnce without waiting. Enter it outside any transaction."""
    subject, limit = f"costly reports of {workspace}", REPORTS_PER_WORKSPACE
    if is_public:
        subject, limit = f"costly public reports of {workspace}", PUBLIC_REPORTS_PER_WORKSPACE
    with _place_of_process(), _leased(subject, limit, REPORT_SECONDS):
        yield


@contextmanager
def _place_of_process() -> Iterator[None]:
    if not PROCESS_PLACES.acquire(blocking=False):
        raise TooManyAtOnce(PER_PROCESS)
    try:
        yield
    finally:
        PROCESS_PLACES.release()


@contextmanager
def _leased(subject: str, limit: int, seconds: int) -> Iterator[None]:
    lease = acquire_lease(subject, limit=limit, seconds=seconds)
    if lease is None:
        raise TooManyAtOnce(limit)
    try:
        yield
    finally:
        # If the database is unavailable, the lease expires.
        with suppress(Error):
            release_lease(lease)


# The callers that were admitted last. A queue is short, so only the last few matter.
_REMEMBERED = 4096


class _Waiter:
    def __init__(self, caller: str) -> None:
        self.caller = caller
        self.is_admitted = False
        # Set once it is admitted or has lost its place.
        self.decided = Event()


class Admission:
    """Admits ``at_once`` calls in this process. ``waiting`` more wait, one of each caller.

    A caller is a network or an account. The next place goes to the waiting caller whose last admission is the longest
    ago. In a full queue, a new caller takes the place of the one that was admitted most recently, unless that is the
    new one. So callers that come again and again delay each other, but keep nobody else out.
    """

    def __init__(
        self, at_once: int, waiting: int, *, seconds: float, refusal: Callable[[], ServiceError] | None = None
    ) -> None:
        """``seconds``: the longest wait. ``refusal`` replaces TooManyAtOnce."""
        self.at_once = at_once
        self.places = waiting
        self.seconds = seconds
        self._refusal = refusal or (lambda: TooManyAtOnce(at_once))
        self._running = 0
        self._waiting: list[_Waiter] = []
        # The number of each caller's last admission.
        self._admitted: OrderedDict[str, int] = OrderedDict()
        self._admissions = 0
        self._lock = Lock()

    @contextmanager
    def admit(self, caller: str) -> Iterator[None]:
        """Raises TooManyAtOnce if the caller gets no place in the queue, or loses it, or waits for too long."""
        waiter = self._enter(caller)
        if waiter is not None:
            waiter.decided.wait(self.seconds)
            with self._lock:
                if not waiter.is_admitted:
                    if waiter in self._waiting:
                        self._waiting.remove(waiter)
                    raise self._refusal()
        try:
            yield
        finally:
            self._leave()

    def _enter(self, caller: str) -> _Waiter | None:
        """Returns the caller's place in the queue, or None if the caller is admitted at once."""
        with self._lock:
            if self._running < self.at_once:
                self._start(caller)
                return None
            if any(waiter.caller == caller for waiter in self._waiting):
                raise self._refusal()
            if len(self._waiting) >= self.places:
                self._make_room_for(caller)
            waiter = _Waiter(caller)
            self._waiting.append(waiter)
            return waiter

    def _make_room_for(self, caller: str) -> None:
        last = max(self._waiting, key=self._last_admission, default=None)
        if last is None or self._last_admission(last) <= self._admitted.get(caller, 0):
            raise self._refusal()
        self._waiting.remove(last)
        last.decided.set()

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            if self._waiting:
                # Of several, the first in the list has waited the longest.
                waiter = min(self._waiting, key=self._last_admission)
                self._waiting.remove(waiter)
                self._start(waiter.caller)
                waiter.is_admitted = True
                waiter.decided.set()

    def _start(self, caller: str) -> None:
        self._running += 1
        self._admissions += 1
        self._admitted[caller] = self._admissions
        self._admitted.move_to_end(caller)
        if len(self._admitted) > _REMEMBERED:
            self._admitted.popitem(last=False)

    def _last_admission(self, waiter: _Waiter) -> int:
        return self._admitted.get(waiter.caller, 0)
