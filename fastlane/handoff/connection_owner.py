"""The part of a worker that owns its clients' connections, and passes them between the event loop, the request threads
and the other processes.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings

from fastlane.fast.lane import FastLane
from fastlane.handoff.between_processes import (
    Handoff,
    HandoffReceiver,
    ReturnReceiver,
    handoff_queues,
    try_return,
)
from fastlane.handoff.claims import Claims
from fastlane.handoff.departures import PendingHandoffs
from fastlane.handoff.lookups import Lookups
from fastlane.handoff.request_threads import Exchange, Outcome, RequestThreads
from fastlane.sockets.admission import Admission
from fastlane.sockets.compiled_loop import event_loop
from fastlane.sockets.connection import Connection
from fastlane.sockets.open_connections import OpenConnections
from fastlane.sockets.outgoing import Incoming, refuse

# Besides all requests on the internal listener.
_PROBES = (b"GET /readyz ", b"HEAD /readyz ")


class ConnectionOwner(RequestThreads):
    """Everything here runs in the main thread. ``role``: see `fastlane.worker`. ``nr_conns`` is gunicorn's number of
    open connections, wherever they are in this process.
    """

    role = "both"

    def _create_connections(self) -> None:
        """Runs before gunicorn creates its poller and its threads."""
        self._connections = OpenConnections(on_closed=self._on_released, idle_timeout=self.cfg.keepalive)
        self._loop = event_loop(
            self._connections,
            FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES),
            config=self.cfg,
            on_deferred=self._on_deferred,
        )
        # In an API worker, any connection may have a file to send, which takes a second descriptor.
        self._limit = self.cfg.worker_connections
        if self.role == "api":
            self._limit = max(self._limit // 2, self.cfg.threads + 3)
        self._admission = Admission(
            self._connections, limit=self._limit, per_address=settings.CONNECTIONS_PER_ADDRESS
        )

    def _create_handoffs(self) -> None:
        """Runs after gunicorn has created its poller and its threads."""
        queues, hands_off = handoff_queues(), self.role == "redirect"
        self._pending_handoffs = PendingHandoffs(
            self.poller,
            queues.to_api if hands_off else None,
            has_idle_thread=self._has_idle_thread,
            submit=self._submit,
            on_released=self._on_released,
        )
        self._pending_probes = PendingHandoffs(
            self.poller,
            queues.probes if hands_off else None,
            has_idle_thread=self._has_idle_probe_thread,
            submit=self._submit_probe,
            on_released=self._on_released,
        )
        self._handoff_receivers = [
            HandoffReceiver(
                self.poller,
                queue,
                has_capacity=partial(self._has_capacity, has_idle_thread),
                on_received=partial(self._on_handoff, pending),
                on_out_of_descriptors=self._admission.evict,
            )
            for queue, has_idle_thread, pending in (
                (queues.to_api, self._has_idle_thread, self._pending_handoffs),
                (queues.probes, self._has_idle_probe_thread, self._pending_probes),
            )
        ]
        self._return_receiver = ReturnReceiver(
            self.poller,
            self._loop,
            try_admit=self._try_admit,
            on_out_of_descriptors=self._admission.evict,
        )
        self._claims = Claims(self._loop, self._pending_handoffs, self.method_queue, self.log)
        self._lookups = Lookups(
            self._loop, self.tpool, self.method_queue, self.log, on_unresolved=self._claims.add
        )

    def finish_request(self, conn: Exchange, future: Any) -> None:
        """Runs in the main thread after a thread has processed a request."""
        outcome = self._end_thread(conn, future)
        stream = conn.stream
        rest = conn.rest if outcome is Outcome.KEEP else b""
        if outcome is Outcome.KEEP and not stream.outbox:
            self._after_response(stream.sock, conn.client, conn.server, rest)
        else:
            connection = self._loop.add(stream.sock, conn.client, conn.server)
            connection.read = rest
            after: dict[Outcome, Callable[[Connection], None]] = {
                Outcome.KEEP: self._resume_keepalive,
                Outcome.CLOSE: self._connections.shutdown_gracefully,
                Outcome.PAUSED: partial(self._continue_response, conn),
            }
            self._loop.transmit(connection, stream.outbox, after[outcome])
        (self._pending_probes if conn.is_probe else self._pending_handoffs).send()
        self._update_polling()

    def _update_polling(self) -> None:
        for receiver in self._handoff_receivers:
            receiver.update_polling()

    def _expire_handoffs(self) -> None:
        """Reply 503 to requests that have waited for a thread for too long, wherever they wait."""
        for receiver in self._handoff_receivers:
            receiver.expire()
        self._lookups.expire()
        self._pending_handoffs.expire()
        self._pending_probes.expire()

    def _try_admit(self, client: Any) -> bool:
        """Count a new connection of this process, unless its address is at the limit."""
        if not self._admission.try_admit(client):
            return False
        self.nr_conns += 1
        self._admission.free_capacity(self.nr_conns)
        return True

    def _on_released(self, connection: Connection | Handoff) -> None:
        """Stop counting a connection that was closed or handed off."""
        self._on_finished(connection.client)

    def _on_finished(self, client: Any) -> None:
        """Stop counting a connection of this client."""
        self.nr_conns -= 1
        self._admission.remove(client)

    def _has_capacity(self, has_idle_thread: Callable[[], bool]) -> bool:
        """Whether an API worker can process another connection. Evictions keep the number below the limit."""
        return has_idle_thread() and self.nr_conns < self._limit

    def _on_deferred(self, connection: Connection, incoming: Incoming) -> None:
        handoff = Handoff(connection.sock, connection.client, connection.server, incoming)
        can_lookup = self.role != "api" and self.alive
        if connection.is_internal or incoming.data.startswith(_PROBES):
            self._pending_probes.add(handoff)
        elif not can_lookup:
            self._pending_handoffs.add(handoff)
        elif not self._lookups.start(handoff):
            self._claims.add(handoff)

    def _on_handoff(self, pending: PendingHandoffs, handoff: Handoff) -> None:
        if self._try_admit(handoff.client):
            pending.add(handoff)
        else:
            refuse(handoff.sock)

    def _after_response(self, sock: socket.socket, client: Any, server: Any, rest: bytes) -> None:
        if self.role == "api" and self.alive:
            handoff = Handoff(sock, client, server, Incoming(b"", rest, time.monotonic()))
            if try_return(handoff):
                self._on_released(handoff)
                return
        self._loop.add(sock, client, server, rest)

    def _continue_response(self, conn: Exchange, connection: Connection) -> None:
        self._connections.release(connection)
        self._start_thread(conn)
        self._update_polling()

    def _resume_keepalive(self, connection: Connection) -> None:
        """Reuse the connection after its response was sent."""
        rest, connection.read = connection.read, b""
        self._connections.release(connection)
        self._after_response(connection.sock, connection.client, connection.server, rest)
