"""The gunicorn worker: an event loop that keeps the connections and answers what the fast lane can, beside gunicorn's
threads, which do the rest.

All that this project uses of gunicorn's inside is here: it derives from the threaded worker of the pinned release.
A worker has one of three roles, given to it before it is forked (``shortener_project.gunicorn_conf``): ``redirect``
accepts connections and follows links, ``api`` gets the connections that ask for anything else, and ``both`` does
everything in one process.
"""

from __future__ import annotations

import errno
import select
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.conf import settings
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from analytics.journal import journal
from redirects.connections import BODY_SECONDS, HEAD_SECONDS, READ_BYTES, Connection, is_to_follow, missing
from redirects.fast_lane import Answer, FastLane
from redirects.handover import Handed, handover

# In one turn of the loop, so that no kind of work keeps another waiting.
_ACCEPTED = 64
_EVENTS = 256
# A stopping worker looks around this often, and an API worker takes what is still under way to it for this long.
_STOPPING_TICK = 0.05
_LAST_HANDED_SECONDS = 0.5
_CLOSING_SECONDS = 2.0
# Of a thread that waits for a client to send or to take more.
_STALLED = struct.pack("ll", 30, 0)


class Worker(ThreadWorker):  # type: ignore[misc] # gunicorn carries no types
    role = "both"
    sockets: list[socket.socket]

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl or cfg.proxy_protocol != "off":
            raise RuntimeError("TLS and the PROXY protocol end in front of this service.")

    def init_process(self) -> None:
        self._lane = FastLane(settings.BASE_HOSTS, settings.TRUSTED_PROXIES)
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        # What waits for room on the way to the API workers.
        self._leaving: deque[tuple[Connection, bytes]] = deque()
        self._busy = 0
        self._takes = False
        self._takes_until: float | None = None
        self._reaped_at = 0.0
        super().init_process()

    def run(self) -> None:
        self.poller.register(self._epoll.fileno(), selectors.EVENT_READ, self._turn)
        if self.role == "api":
            for listener in self.sockets:
                listener.close()
            self.sockets = []
            # The queue counts as a connection, so that a stopping worker waits for what is under way to it.
            self.nr_conns += 1
            self._set_taking(True)
        elif self.role == "redirect":
            self.poller.register(handover().back.exit, selectors.EVENT_READ, self._take_back)
        for listener in self.sockets:
            # Those that are accepted inherit it.
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                listener.setsockopt(socket.SOL_SOCKET, option, _STALLED)
        self._names = {listener.fileno(): listener.getsockname() for listener in self.sockets}
        super().run()
        self._epoll.close()

    # What gunicorn calls

    def accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTED):
            if not self._accept(listener):
                return

    def _accept(self, listener: socket.socket) -> bool:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ECONNABORTED):
                return False
            raise
        self.nr_conns += 1
        self._keep(sock, client, self._names[listener.fileno()])
        return True

    def finish_request(self, conn: Any, future: Any) -> None:
        """In the main thread, when a thread is done with a request."""
        if self.role == "api":
            self._busy -= 1
            self._set_taking(True)
        try:
            keeps = future.result() is True
        except BaseException:  # gunicorn has logged it
            keeps = False
        if keeps and conn.parser.unreader.buf.getvalue():
            self._enqueue(conn)
        elif keeps and self.role == "api" and self.alive and self._give_back(conn):
            self.nr_conns -= 1
        elif keeps:
            self._keep(conn.sock, conn.client, conn.server)
        else:
            self._close_gently(conn)

    def murder_keepalived(self, force: bool = False) -> None:
        super().murder_keepalived(force)
        now = time.monotonic()
        self._send_leaving()
        if self._takes_until is not None and now >= self._takes_until and self._busy == 0:
            self._set_taking(False)
            self._takes_until = None
            self.nr_conns -= 1
        if force or not self.alive or now - self._reaped_at >= 1:
            self._reaped_at = now
            for connection in [each for each in self._connections.values() if force or each.deadline <= now]:
                self._drop(connection)

    def _cap_keepalive(self, deadline: float) -> None:
        """The worker begins to stop: it accepts nothing more, and ends what it has."""
        super()._cap_keepalive(deadline)
        self.alive = False
        for connection in self._connections.values():
            connection.deadline = min(connection.deadline, deadline)
        if self.role == "api":
            self._takes_until = time.monotonic() + _LAST_HANDED_SECONDS
        elif self.role == "redirect":
            self.poller.unregister(handover().back.exit)
        # Who comes now is refused at once and can turn elsewhere, instead of waiting for somebody who never accepts.
        for listener in self.sockets:
            with suppress(OSError):
                while self._accept(listener):
                    pass
            listener.close()

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        if not self.alive or self._leaving:
            timeout = min(timeout, _STOPPING_TICK)
        super().wait_for_and_dispatch_events(timeout)

    # The event loop

    def _turn(self, _: Any) -> None:
        now = time.monotonic()
        clock = time.time()
        answers: list[tuple[Connection, bytes, Answer]] = []
        for descriptor, event in self._epoll.poll(0, _EVENTS):
            connection = self._connections[descriptor]
            if connection.outgoing:
                if event & ~select.EPOLLIN:
                    self._send(connection, b"")
                continue
            try:
                data = connection.sock.recv(READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if connection.closing or not data:
                self._end(connection, data)
                continue
            if connection.read:
                data = connection.read + data
            answer = self._lane.answer(data, connection.address, clock, not self.alive)
            if answer is None:
                self._read(connection, data, now)
            else:
                answers.append((connection, data, answer))
        if answers:
            self._answer(answers, now)

    def _answer(self, answers: Sequence[tuple[Connection, bytes, Answer]], now: float) -> None:
        try:
            journal().append(*[answer.payload for _, _, answer in answers])
        except OSError:
            # The Django view knows what to do with clicks that the journal cannot keep.
            for connection, data, _ in answers:
                self._pass_on(connection, data)
            return
        self.nr += len(answers)
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False
        deadline = now + self.cfg.keepalive
        for connection, _, answer in answers:
            connection.read = b""
            connection.deadline = deadline
            connection.closing = answer.closes
            self._send(connection, answer.data)

    def _send(self, connection: Connection, data: bytes) -> None:
        """Sends what the client takes now; the rest when it takes more."""
        waited = connection.outgoing
        try:
            sent = connection.sock.send(waited + data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(connection)
            return
        if waited or sent < len(data):
            connection.outgoing = (waited + data)[sent:]
            wanted = select.EPOLLOUT if connection.outgoing else select.EPOLLIN
            self._epoll.modify(connection.sock.fileno(), wanted)
        if connection.closing and not connection.outgoing:
            if self.alive:  # as the client has asked for
                self._drop(connection)
            else:
                self._say_no_more(connection)

    def _read(self, connection: Connection, data: bytes, now: float) -> None:
        """Something that the fast lane cannot answer, or only the beginning of a request."""
        if len(data) < connection.wanted:
            connection.read = data
            return
        wanted = missing(data)
        if wanted == 0:
            self._pass_on(connection, data)
            return
        if not connection.read:
            connection.deadline = now + HEAD_SECONDS
        if b"\r\n\r\n" in data:
            connection.deadline = now + BODY_SECONDS
        connection.read, connection.wanted = data, wanted

    def _end(self, connection: Connection, data: bytes) -> None:
        """The client sends no more, or nothing that matters; what it has begun is gunicorn's to judge."""
        if connection.read and not connection.closing:
            self._pass_on(connection, connection.read)
        elif not data:
            self._drop(connection)

    # Connections come and go

    def _keep(self, sock: socket.socket, client: Any, server: Any) -> None:
        """Until the next request. Counted by who calls."""
        sock.setblocking(False)
        self._epoll.register(sock.fileno(), select.EPOLLIN)
        connection = Connection(sock, client, server, time.monotonic() + self._patience())
        self._connections[sock.fileno()] = connection

    def _patience(self) -> float:
        return float(self.cfg.keepalive) if self.alive else min(self.cfg.keepalive, STOP_KEEPALIVE_LINGER)

    def _let_go(self, connection: Connection) -> None:
        descriptor = connection.sock.fileno()
        self._epoll.unregister(descriptor)
        del self._connections[descriptor]

    def _drop(self, connection: Connection) -> None:
        self._let_go(connection)
        connection.sock.close()
        self.nr_conns -= 1

    def _close_gently(self, conn: Any) -> None:
        """As gunicorn closes, but without keeping the loop waiting for the client."""
        try:
            self._keep(conn.sock, conn.client, conn.server)
        except (OSError, ValueError):  # a thread has closed it
            self.nr_conns -= 1
            return
        self._say_no_more(self._connections[conn.sock.fileno()])

    def _say_no_more(self, connection: Connection) -> None:
        connection.closing = True
        connection.deadline = time.monotonic() + _CLOSING_SECONDS
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(connection)

    def _pass_on(self, connection: Connection, data: bytes) -> None:
        self._let_go(connection)
        if self.role == "redirect" and self.alive and not is_to_follow(data):
            self._leaving.append((connection, data))
            self._send_leaving()
        else:
            self._do(Handed(connection.sock, connection.client, connection.server, data))

    def _do(self, handed: Handed) -> None:
        """In a thread, the way gunicorn would do it; the bytes that were read are read again there."""
        conn = TConn(self.cfg, handed.sock, handed.client, handed.server)
        conn.init()
        conn.parser.unreader.unread(handed.data)
        conn.data_ready = True
        self._enqueue(conn)

    def _enqueue(self, conn: Any) -> None:
        self._busy += self.role == "api"
        self.enqueue_req(conn)

    # Between the roles

    def _send_leaving(self) -> None:
        while self._leaving:
            connection, data = self._leaving[0]
            handed = Handed(connection.sock, connection.client, connection.server, data)
            try:
                handover().to_api.put(handed)
            except BlockingIOError:
                if self.alive:
                    return
                self._do(handed)
            except OSError:  # too long for the queue, or the kernel has too many under way
                self._do(handed)
            else:
                self.nr_conns -= 1
            self._leaving.popleft()

    def _set_taking(self, takes: bool) -> None:
        """An API worker takes no more than it has threads for: another may be free."""
        takes = takes and self._busy < self.cfg.threads
        if takes and not self._takes:
            self.poller.register(handover().to_api.exit, selectors.EVENT_READ, self._take)
        elif self._takes and not takes:
            self.poller.unregister(handover().to_api.exit)
        self._takes = takes

    def _take(self, _: Any) -> None:
        while self._busy < self.cfg.threads and (handed := handover().to_api.take()):
            self.nr_conns += 1
            self._do(handed)
        self._set_taking(True)

    def _give_back(self, conn: Any) -> bool:
        try:
            handover().back.put(Handed(conn.sock, conn.client, conn.server, b""))
        except OSError:
            return False
        return True

    def _take_back(self, _: Any) -> None:
        for _ in range(_ACCEPTED):
            handed = handover().back.take()
            if handed is None:
                return
            self.nr_conns += 1
            self._keep(handed.sock, handed.client, handed.server)
