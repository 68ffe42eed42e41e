"""Reads links that a worker does not have, while the connections with their requests wait.

Concurrent visitors of a link share one lookup, and lookups that are due together share one query: a batch takes all
that have arrived during the previous ones. So a busy worker with a cold cache sends few queries, and an idle one does
not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from math import inf
from typing import Any

from django.conf import settings
from django.db import Error, connection

from common.database import is_outage
from common.host.cache_versions import versions_of
from common.host.metrics import count_lookups
from common.host.state import UNHEARD_SECONDS, is_hearing
from common.repeated_lines import REPEATED
from fastlane.fast.prepared import prepare, valid_for_waiting
from fastlane.handoff.between_processes import Handoff
from fastlane.sockets.event_loop import EventLoop
from links.destinations.batch_lookup import Key, load_targets, sites_of
from links.destinations.lookup import recall_target
from links.destinations.patience import patient_reads

# Seconds after which a lookup checks again whether the database is still unreachable.
REMEMBERED_SECONDS = 5.0


def lookup(host: str, code: str) -> bytes | None:
    """Load and prepare one link, as `lookup_many` does."""
    [prepared] = lookup_many([(host, code)])
    return prepared


def lookup_many(keys: Sequence[Key]) -> list[bytes | None]:
    """Load and prepare links from the database, or from this host's memory during a database outage.

    None: neither has the link; the Django view replies.
    """
    count_lookups(misses=len(keys))
    before = [versions_of(*key) for key in sites_of(keys)]
    seconds = inf if is_hearing() else UNHEARD_SECONDS
    try:
        results = patient_reads().read(lambda: load_targets(keys))
    except Error as error:
        connection.close()
        if not is_outage(error):
            return [None] * len(keys)
        remembered = [recall_target(host, code) for host, code in keys]
        return [
            None if target is None else prepare(versions, target, REMEMBERED_SECONDS)
            for versions, target in zip(before, remembered, strict=True)
        ]
    return [prepare(versions, result, seconds) for versions, result in zip(before, results, strict=True)]


_Key = tuple[str, str]
_Results = list[bytes | None]
# Batches in progress: while one thread waits for the database, another prepares its results.
_BATCHES = 2
# Bounds the time for which a batch keeps the interpreter busy.
_BATCH = 100


class LinkLookups:
    """Calls ``on_unresolved`` with connections that the fast lane cannot answer after the lookup, or that have waited
    for it for too long. Main thread only.
    """

    def __init__(
        self,
        loop: EventLoop,
        pool: ThreadPoolExecutor,
        method_queue: Any,
        log: Any,
        *,
        on_unresolved: Callable[[Handoff], None],
    ) -> None:
        self._loop = loop
        self._pool = pool
        self._method_queue = method_queue
        self._log = log
        self._on_unresolved = on_unresolved
        self._waiting: dict[_Key, list[Handoff]] = {}
        # Lookups that have not begun, with their deadlines, in the order of their arrival.
        self._queued: dict[_Key, float] = {}
        self._batches = 0
        self._is_scheduled = False

    def start(self, handoff: Handoff) -> bool:
        """Start or join a lookup. Return False if the request needs none."""
        key = self._loop.lane.lookup_key(handoff.incoming.data, time.time())
        if key is None:
            return False
        if key in self._waiting:
            self._waiting[key].append(handoff)
        else:
            self._waiting[key] = [handoff]
            self._queued[key] = time.monotonic() + settings.API_QUEUE_SECONDS
            # After this iteration of the loop, so that requests that arrived together share a batch.
            if not self._is_scheduled and self._batches < _most_batches():
                self._is_scheduled = True
                self._method_queue.defer(self._submit)
        return True

    def expire(self) -> None:
        """Give up waiting for a thread after the queue timeout. The lookup itself goes on."""
        oldest = time.monotonic() - settings.API_QUEUE_SECONDS
        for waiting in self._waiting.values():
            # In the order of their arrival.
            while waiting and waiting[0].incoming.since < oldest:
                self._on_unresolved(waiting.pop(0))

    def _submit(self) -> None:
        self._is_scheduled = False
        while self._queued and self._batches < _most_batches():
            keys = list(islice(self._queued, _BATCH))
            deadlines = [self._queued.pop(key) for key in keys]
            self._batches += 1
            began_at = time.monotonic()
            future = self._pool.submit(_lookup_before, keys, deadlines)
            future.add_done_callback(partial(self._method_queue.defer, self._end, keys, began_at))

    def _end(self, keys: Sequence[_Key], began_at: float, future: Future[_Results]) -> None:
        self._batches -= 1
        self._submit()
        try:
            results = future.result()
        except Exception:
            self._log.exception("Lookup of %d codes failed", len(keys), extra=REPEATED)
            results = [None] * len(keys)
        now = time.time()
        handoffs: list[Handoff] = []
        for key, prepared in zip(keys, results, strict=True):
            waiting = self._waiting.pop(key)
            if prepared is not None:
                # A link may have been created on another host between the lookup and a later request.
                arrived_before = all(handoff.incoming.since <= began_at for handoff in waiting)
                self._loop.lane.store(*key, valid_for_waiting(prepared, now) if arrived_before else prepared)
            handoffs += waiting
        connections = [self._loop.add(handoff.sock, handoff.client, handoff.server) for handoff in handoffs]
        answered = self._loop.retry(connections, [handoff.incoming for handoff in handoffs], now)
        for handoff, is_answered in zip(handoffs, answered, strict=True):
            if not is_answered:
                self._on_unresolved(handoff)


def _most_batches() -> int:
    """More while the host hears nothing: batches from before may wait for the database, and later ones do not."""
    return _BATCHES if is_hearing() else 2 * _BATCHES


def _lookup_before(keys: Sequence[_Key], deadlines: Sequence[float]) -> _Results:
    """Runs in a thread. At its deadline (monotonic) a waiting request is refused, so skip the lookup."""
    now = time.monotonic()
    places = [place for place, deadline in enumerate(deadlines) if now <= deadline]
    results: _Results = [None] * len(keys)
    if places:
        for place, prepared in zip(places, lookup_many([keys[place] for place in places]), strict=True):
            results[place] = prepared
    return results
