"""The gunicorn worker: an event loop that owns the connections and serves the fast lane, and gunicorn's threads for
all other requests.

Only this module, its base classes `fastlane.handoff.connection_owner` and `fastlane.handoff.request_threads`, and
`fastlane.sockets.incoming` use gunicorn's internals. They derive from the threaded worker of the pinned
release. ``shortener_project.gunicorn_conf`` sets a worker's role before the fork: ``redirect`` accepts connections and
serves the fast lane, ``api`` receives the connections with other requests, and ``both`` does all in one process.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time
from typing import Any

from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER

from common.host.priority import lower_priority
from fastlane.compiled.loading import load
from fastlane.handoff.connection_owner import ConnectionOwner
from fastlane.sockets.admission import Acceptor
from fastlane.warm_start import end_loader, start_loader, start_reading

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


class Worker(ConnectionOwner):
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
        self._create_handoffs()
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
            for receiver in self._handoff_receivers:
                # Count the handoff queue as a connection, so that a stopping worker drains it.
                self.nr_conns += 1
                receiver.start()
        elif self.role == "redirect":
            self._return_receiver.start()
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
        self._expire_handoffs()
        self._loop.reap()
        self._update_polling()
        for receiver in self._handoff_receivers:
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
        self._pending_handoffs.end()
        self._pending_probes.end()
        if self.role == "api":
            for receiver in self._handoff_receivers:
                receiver.schedule_stop()
        elif self.role == "redirect":
            self._return_receiver.stop()
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
