"""The gunicorn worker: an event loop that keeps the connections and answers what the fast lane can, beside gunicorn's
threads, which do the rest.

All that this project uses of gunicorn's inside is here: it derives from the threaded worker of the pinned release.
A worker has one of three roles, given to it before it is forked (``shortener_project.gunicorn_conf``): ``redirect``
accepts connections and answers what the fast lane can, ``api`` gets the connections that ask for anything else, and
``both`` does everything in one process.
"""

from __future__ import annotations

import errno
import selectors
import socket
import struct
import sys
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from django.conf import settings
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from common.priority import stand_back
from redirects.connections import Connection, missing
from redirects.event_loop import EventLoop
from redirects.fast_lane import FastLane, look_up
from redirects.handover import Handed, handover

# In one turn of the loop, so that no kind of work keeps another waiting.
_ACCEPTED = 64
# And while all are asked for, what gunicorn does in between is worth doing after so many turns.
_TURNS = 4
# Somebody who follows a link goes first when there is more to do than the processors can.
_API_NICENESS = 10
_SWITCH_SECONDS = 0.0002
# A stopping worker looks around this often, and an API worker takes what is still under way to it for this long.
_STOPPING_TICK = 0.05
_LAST_HANDED_SECONDS = 0.5
# Seconds for which a thread waits for a client that neither sends nor takes anything (a struct timeval).
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
        self._loop = EventLoop(
            self._lane,
            pass_on=self._pass_on,
            dropped=self._count_out,
            patience=self.cfg.keepalive,
        )
        # What waits for room on the way to the API workers.
        self._leaving: deque[Handed] = deque()
        # Who waits for what a code means on a host.
        self._asking: dict[tuple[str, str], list[Handed]] = {}
        self._busy = 0
        self._is_taking = False
        self._takes_until: float | None = None
        super().init_process()

    def run(self) -> None:
        self.poller.register(self._loop.fileno(), selectors.EVENT_READ, self._turn)
        if self.role == "api":
            for listener in self.sockets:
                listener.close()
            self.sockets = []
            stand_back(_API_NICENESS)
            # The queue counts as a connection, so that a stopping worker waits for what is under way to it.
            self.nr_conns += 1
            self._takes_until = float("inf")
            self._take_if_free()
        elif self.role == "redirect":
            self.poller.register(handover().back.exit, selectors.EVENT_READ, self._take_back)
        # The loop answers more in this time than a thread does in the usual 5 ms, for which it might have to wait.
        sys.setswitchinterval(_SWITCH_SECONDS)
        for listener in self.sockets:
            # Those that are accepted inherit it.
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                listener.setsockopt(socket.SOL_SOCKET, option, _STALLED)
        self._names = {listener.fileno(): listener.getsockname() for listener in self.sockets}
        super().run()
        self._loop.close()

    # What gunicorn calls

    def accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPTED):
            if not self._accept(listener):
                return

    def finish_request(self, conn: Any, future: Any) -> None:
        """In the main thread, when a thread is done with a request."""
        self._busy -= 1
        try:
            keeps = future.result() is True
        except BaseException:  # gunicorn has logged it
            keeps = False
        # Of the next request. A thread does not wait for the rest of it.
        read = conn.parser.unreader.buf.getvalue() if keeps else b""
        if read and not missing(read):
            self._enqueue(conn)
        elif keeps and self.role == "api" and self.alive and self._give_back(conn, read):
            self._count_out()
        else:
            try:
                connection = self._loop.keep(conn.sock, conn.client, conn.server, read)
            except (OSError, ValueError):  # a thread has closed it
                self._count_out()
            else:
                if not keeps:
                    self._loop.close_gently(connection)
        self._take_if_free()

    def _keepalive_after(self, conn: Any, keepalive: bool) -> bool:
        """In a thread, after an answer. What is wrong with the rest of the request is told nobody any more: a second
        answer would be taken for that to the next request, which may be somebody else's behind a proxy.
        """
        try:
            return bool(super()._keepalive_after(conn, keepalive))
        except Exception:
            return False

    def murder_keepalived(self, force: bool = False) -> None:
        super().murder_keepalived(force)
        self._send_leaving()
        self._loop.reap()
        if self._takes_until is not None and time.monotonic() >= self._takes_until and not self._busy:
            self._takes_until = None
            self._take_if_free()
            self._count_out()

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        if not self.alive or self._leaving:
            timeout = min(timeout, _STOPPING_TICK)
        super().wait_for_and_dispatch_events(timeout)

    def _cap_keepalive(self, deadline: float) -> None:
        """The worker begins to stop: it accepts nothing more, and ends what it has."""
        super()._cap_keepalive(deadline)
        self.alive = False
        self._loop.end(deadline, min(self.cfg.keepalive, STOP_KEEPALIVE_LINGER))
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

    # Connections come, and are worked on

    def _accept(self, listener: socket.socket) -> bool:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ECONNABORTED):
                return False
            raise
        self.nr_conns += 1
        self._loop.keep(sock, client, self._names[listener.fileno()])
        return True

    def _turn(self, _: Any) -> None:
        self._loop.ending = not self.alive
        for _ in range(_TURNS):
            answered = self._loop.turn()
            self.nr += answered
            if not answered:
                break
        if self.nr >= self.max_requests and self.alive:
            self.log.info("Autorestarting worker after current request.")
            self.alive = False

    def _pass_on(self, connection: Connection, data: bytes) -> None:
        handed = Handed(connection.sock, connection.client, connection.server, data)
        can_look_up = self.role != "api" and self.alive
        asked = self._lane.asks_for(data, time.time()) if can_look_up else None
        if asked is None:
            self._leave(handed)
        elif asked in self._asking:
            self._asking[asked].append(handed)
        else:
            self._asking[asked] = [handed]
            looked_up = self.tpool.submit(look_up, *asked)
            looked_up.add_done_callback(lambda found: self.method_queue.defer(self._learn, asked, found))

    def _learn(self, asked: tuple[str, str], found: Future[bytes | None]) -> None:
        """What a thread has found out about the link that these have asked for: it may be one for the fast lane."""
        waiting = self._asking.pop(asked)
        try:
            prepared = found.result()
        except Exception:
            self.log.exception("%s of %s cannot be looked up", *reversed(asked))
            prepared = None
        if prepared is not None:
            self._lane.learn(*asked, prepared)
        for handed in waiting:
            connection = self._loop.keep(handed.sock, handed.client, handed.server)
            if self._loop.offer(connection, handed.data):
                self.nr += 1
            else:
                self._leave(handed)

    def _work_on(self, handed: Handed) -> None:
        """In a thread, the way gunicorn would do it; the bytes that were read are read again there."""
        conn = TConn(self.cfg, handed.sock, handed.client, handed.server)
        conn.init()
        conn.parser.unreader.unread(handed.data)
        conn.data_ready = True
        self._enqueue(conn)

    def _enqueue(self, conn: Any) -> None:
        self._busy += 1
        self.enqueue_req(conn)

    def _count_out(self) -> None:
        self.nr_conns -= 1

    # Between the roles

    def _leave(self, handed: Handed) -> None:
        """To Django, wherever that is."""
        if self.role != "redirect" or not self.alive:
            self._work_on(handed)
            return
        self._leaving.append(handed)
        self._send_leaving()

    def _send_leaving(self) -> None:
        while self._leaving:
            handed = self._leaving[0]
            try:
                handover().to_api.put(handed)
            except BlockingIOError:
                if self.alive:
                    return
                self._work_on(handed)
            except OSError:  # too long for the queue, or the kernel has too many under way
                self._work_on(handed)
            else:
                self._count_out()
            self._leaving.popleft()

    def _take_if_free(self) -> None:
        """An API worker takes no more than it has threads for: another may be free."""
        takes = self._takes_until is not None and self._busy < self.cfg.threads
        if takes and not self._is_taking:
            self.poller.register(handover().to_api.exit, selectors.EVENT_READ, self._take)
        elif self._is_taking and not takes:
            self.poller.unregister(handover().to_api.exit)
        self._is_taking = takes

    def _take(self, _: Any) -> None:
        while self._busy < self.cfg.threads and (handed := handover().to_api.take()):
            self.nr_conns += 1
            self._work_on(handed)
        self._take_if_free()

    def _give_back(self, conn: Any, read: bytes) -> bool:
        try:
            handover().back.put(Handed(conn.sock, conn.client, conn.server, read))
        except OSError:
            return False
        return True

    def _take_back(self, _: Any) -> None:
        for _ in range(_ACCEPTED):
            handed = handover().back.take()
            if handed is None:
                return
            self.nr_conns += 1
            self._loop.keep(*handed)
