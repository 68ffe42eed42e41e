"""The gunicorn worker: an event loop that owns the connections and serves the fast lane, and gunicorn's threads for
all other requests.

``shortener_project.gunicorn_conf`` sets a worker's role before the fork: ``redirect`` accepts connections and serves
the fast lane, ``api`` receives the connections with other requests, and ``both`` does all in one process.

Four modules import the pinned gunicorn: `fastlane.handoff.request_threads` derives from its threaded worker and writes
its responses, this module uses a constant of that worker, `fastlane.sockets.incoming` its parser, and
`fastlane.fast.answers` the name of the server.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER

from common.host.processes import lower_priority
from fastlane.compiled.event_loop import event_loop, load
from fastlane.fast.lane import FastLane
from fastlane.handoff.between_processes import (
    AnsweredReceiver,
    Handoff,
    RequestReceiver,
    give_back,
    handoff_queues,
)
from fastlane.handoff.click_claims import ClickClaims
from fastlane.handoff.link_lookups import LinkLookups
from fastlane.handoff.request_queue import RequestQueue
from fastlane.handoff.request_threads import Exchange, Outcome, RequestThreads
from fastlane.sockets.admission import Acceptor, Admission
from fastlane.sockets.connections import Connection, OpenConnections
from fastlane.sockets.outgoing import Incoming, refuse
from fastlane.warm_start import end_loader, start_loader, start_reading

# Besides all requests on the internal listener.
_PROBES = (b"GET /readyz ", b"HEAD /readyz ")
# Iterations of the event loop per iteration of gunicorn's loop, while each one finds work.
_LOOP_ITERATIONS = 4
# Fewer answers than this in an iteration: the next one would probably find no work.
_BUSY = 16
_NOTIFY_SECONDS = 1.0
_UPKEEP_SECONDS = 0.05
# Redirects take priority over the API when the CPU is saturated.
_API_NICENESS = 10
_SWITCH_SECONDS = 0.0002
# Poll interval of a stopping worker.
_STOPPING_TICK = 0.05


class Worker(RequestThreads):
    """Owns its clients' connections, and passes them between the event loop, the request threads and other processes.

    Everything here runs in the main thread. ``nr_conns`` is gunicorn's number of open connections, wherever they are
    in this process.
    """

    role = "both"
    sockets: list[socket.socket]
    _accepting: bool

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl or cfg.proxy_protocol != "off":
            raise RuntimeError(
                "This service supports neither TLS nor the PROXY protocol; terminate both in front of it."
            )
        compiled, reason = load()
        log.info("Event loop: %s", "compiled" if compiled else f"Python ({reason})")

    def init_process(self) -> None:
        self._loader = start_loader(self.sockets) if self.role != "api" else None
        self._create_connections()
        self._acceptor = Acceptor(
            self._loop,
            self._admission,
            try_admit=self._try_admit,
            on_finished=self._on_finished,
            on_paused=self._stop_accepting,
        )
        self._notify_at = self._upkeep_at = 0.0
        super().init_process()

    def run(self) -> None:
        self._create_queues()
        if self.role == "api":
            self.poller.register(self._loop.fileno(), selectors.EVENT_READ, lambda _: self._run_loop(0.0))
        else:
            self._loop.watch(self.poller.fileno())
        self._acceptor.open(self.sockets)
        if self.role != "api":
            start_reading(self._loop.lane, self._loader)
        if self.role == "api":
            for listener in self.sockets:
                listener.close()
            self.sockets = []
            lower_priority(_API_NICENESS)
            for receiver in self._request_receivers:
                # Count the handoff queue as a connection, so that a stopping worker drains it.
                self.nr_conns += 1
                receiver.start()
        elif self.role == "redirect":
            self._answered_receiver.start()
        # With the default of 5 ms, the loop would wait for a thread for longer than many of its iterations take.
        sys.setswitchinterval(_SWITCH_SECONDS)
        super().run()
        self._loop.close()
        if self._loader is not None:
            end_loader(self._loader)

    def set_accept_enabled(self, enabled: bool) -> None:
        """gunicorn's loop calls this about once a second, and resumes after a pause. The event loop accepts, not
        gunicorn's poller.
        """
        enabled = enabled and not self._acceptor.is_paused
        if enabled == self._accepting:
            return
        self._accepting = enabled
        if enabled:
            self._acceptor.resume(self.sockets)
        else:
            self._acceptor.stop(self.sockets)

    def murder_keepalived(self, force: bool = False) -> None:
        if not force and not self._is_upkeep_due():
            return
        super().murder_keepalived(force)
        self._expire_requests()
        self._loop.reap()
        self._update_polling()
        for receiver in self._request_receivers:
            if self._is_idle() and receiver.stop_if_due():
                self.nr_conns -= 1

    def notify(self) -> None:
        """Report to gunicorn's arbiter, which waits for ``timeout`` seconds: once a second is enough."""
        now = time.monotonic()
        if now >= self._notify_at:
            self._notify_at = now + _NOTIFY_SECONDS
            super().notify()

    def _is_upkeep_due(self) -> bool:
        """Whether to check deadlines in this iteration: at most every `_UPKEEP_SECONDS`, unless the worker is stopping
        or exceeds its memory limit.
        """
        if not self.alive or self._connections.memory.is_exceeded:
            return True
        now = time.monotonic()
        if now < self._upkeep_at:
            return False
        self._upkeep_at = now + _UPKEEP_SECONDS
        return True

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait in the event loop or gunicorn's poller, whichever has most events: it also watches the other one.

        One system call is then enough for most requests. Each takes the GIL again, which request threads hold.
        """
        if self._loop.has_ready:
            timeout = 0.0
        elif not self.alive:
            timeout = min(timeout, _STOPPING_TICK)
        if self.role != "api":
            self._run_loop(timeout)
            return
        super().wait_for_and_dispatch_events(timeout)
        if self._loop.has_ready:
            self._run_loop(0.0)

    def _cap_keepalive(self, deadline: float) -> None:
        """Begin to stop: accept no more connections, and finish the open ones."""
        super()._cap_keepalive(deadline)
        self.alive = False
        self._connections.begin_shutdown(deadline, min(self.cfg.keepalive, STOP_KEEPALIVE_LINGER))
        self._requests.end()
        self._probes.end()
        if self.role == "api":
            for receiver in self._request_receivers:
                receiver.schedule_stop()
        elif self.role == "redirect":
            self._answered_receiver.stop()
        self._acceptor.close(self.sockets)

    def _stop_accepting(self) -> None:
        self.set_accept_enabled(False)

    def _run_loop(self, timeout: float) -> None:
        self._connections.ending = not self.alive
        for _ in range(_LOOP_ITERATIONS):
            answered = self._loop.run_once(timeout)
            self.nr += answered
            if self._loop.is_watched_ready:
                super().wait_for_and_dispatch_events(0.0)
            if answered < _BUSY:
                break
            timeout = 0.0
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False

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

    def _create_queues(self) -> None:
        """Runs after gunicorn has created its poller and its threads."""
        queues, hands_off = handoff_queues(), self.role == "redirect"
        self._requests = RequestQueue(
            self.poller,
            queues.to_api if hands_off else None,
            has_idle_thread=self._has_idle_thread,
            submit=self._submit,
            on_released=self._on_released,
        )
        self._probes = RequestQueue(
            self.poller,
            queues.probes if hands_off else None,
            has_idle_thread=self._has_idle_probe_thread,
            submit=self._submit_probe,
            on_released=self._on_released,
        )
        self._request_receivers = [
            RequestReceiver(
                self.poller,
                queue,
                has_capacity=partial(self._has_capacity, has_idle_thread),
                on_received=partial(self._on_request, pending),
                on_out_of_descriptors=self._admission.evict,
            )
            for queue, has_idle_thread, pending in (
                (queues.to_api, self._has_idle_thread, self._requests),
                (queues.probes, self._has_idle_probe_thread, self._probes),
            )
        ]
        self._answered_receiver = AnsweredReceiver(
            self.poller,
            self._loop,
            try_admit=self._try_admit,
            on_out_of_descriptors=self._admission.evict,
        )
        self._claims = ClickClaims(self._loop, self._requests, self.method_queue, self.log)
        self._lookups = LinkLookups(
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
        (self._probes if conn.is_probe else self._requests).send()
        self._update_polling()

    def _update_polling(self) -> None:
        for receiver in self._request_receivers:
            receiver.update_polling()

    def _expire_requests(self) -> None:
        """Reply 503 to requests that have waited for a thread for too long, wherever they wait."""
        for receiver in self._request_receivers:
            receiver.expire()
        self._lookups.expire()
        self._requests.expire()
        self._probes.expire()

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
            self._probes.add(handoff)
        elif not can_lookup:
            self._requests.add(handoff)
        elif not self._lookups.start(handoff):
            self._claims.add(handoff)

    def _on_request(self, pending: RequestQueue, handoff: Handoff) -> None:
        if self._try_admit(handoff.client):
            pending.add(handoff)
        else:
            refuse(handoff.sock)

    def _after_response(self, sock: socket.socket, client: Any, server: Any, rest: bytes) -> None:
        if self.role == "api" and self.alive:
            handoff = Handoff(sock, client, server, Incoming(b"", rest, time.monotonic()))
            if give_back(handoff):
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
