"""F22: a receiver of webhooks gets each counted click, while it and all who serve it are killed in turn."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg

from testing.polling import happens
from testing.proof import children
from testing.proof.service_faults import Target, kill, verdict_of, visiting
from testing.proof.verdict import Verdict
from testing.service.ports import free_port
from testing.service.running import eventually

# Of the service, which otherwise sends to nobody here.
ENVIRONMENT = {"OUTBOUND_ALLOWED_NETWORKS": "127.0.0.0/8", "OUTBOUND_PLAIN_HTTP": "yes"}
# An endpoint gets at most 100 clicks a second, the visitors of all links make more.
_LINKS = 4
_EVENTS = """
SELECT e.data ->> 0 FROM events_event e JOIN links_link l ON l.id = e.link_id
WHERE e.type = 'link.clicked' AND l.public_id::text = ANY (%s)
"""
# As if the waits of failed attempts and the leases of killed processes had passed.
_HURRY = "UPDATE events_delivery SET next_at = now(), leased_until = NULL WHERE status = 'pending' AND next_at > now()"
_SECONDS = 120.0


def receiver_served(to: Target, kills: int, least: float = 0.2, most: float = 1.0) -> Verdict:
    api_key = to.service.owner.api_key
    port, path = free_port(), to.service.folder / "received"
    path.touch()
    body = {"url": f"http://127.0.0.1:{port}/", "types": ["link.clicked"], "name": "Proof"}
    answer = to.service.call("GET", f"/api/urls?limit={_LINKS}", X_API_Key=api_key)
    links = [link["_id"] for link in answer.json()["data"]["urls"]]
    created = to.service.call(
        "POST", "/api/webhooks", {**body, "filters": {"urlIds": links}}, X_API_Key=api_key
    )
    assert created.status == 201, created
    before = _events(to, links)
    victims = ("drain_clicks", "deliver_events", "database", "receiver")
    with _Receiver(port, path).running() as receiver:
        with visiting(to) as log:
            for number in range(kills):
                to.pause(least, most)
                _kill(to, victims[number % len(victims)], receiver)
        verdict = verdict_of("F22 a receiver, and who serves it, killed", kills, to, log)
        wanted = _events(to, links) - before

        def has_all() -> bool:
            with psycopg.connect(to.site.url) as connection:
                connection.execute(_HURRY)
            return wanted <= _received(path)

        happens(has_all, within=_SECONDS, every=1.0)
    received = _received(path)
    for number, problem in (
        (len(wanted - received), "counted, and not received"),
        (len(received - wanted), "received, and not counted on its links"),
        (int(not wanted), "without a click"),
    ):
        if number:
            verdict.problems.append(f"{number} {problem}")
    return verdict


def _events(to: Target, links: list[str]) -> set[str]:
    with psycopg.connect(to.site.url) as connection:
        return {click for (click,) in connection.execute(_EVENTS, [links]).fetchall()}


def _kill(to: Target, victim: str, receiver: _Receiver) -> None:
    if victim == "receiver":
        receiver.restart()
    elif victim == "database":
        postmaster = eventually(to.service.postmaster)
        assert postmaster is not None
        # All its processes end at once, as in a crash.
        kill(postmaster, signal.SIGQUIT)
        eventually(lambda: to.service.postmaster() not in (None, postmaster))
    else:
        kill(to.service.child(victim))


class _Receiver:
    """A process that notes the clicks of each message before it accepts it."""

    def __init__(self, port: int, path: Path) -> None:
        self._port, self._path = port, path
        self._process: BaseProcess | None = None

    @contextmanager
    def running(self) -> Iterator[_Receiver]:
        self.restart()
        try:
            yield self
        finally:
            self._end()

    def restart(self) -> None:
        self._end()
        self._process = children.start(_receive, self._port, self._path)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()


def _receive(port: int, path: Path) -> None:
    notes = os.open(path, os.O_WRONLY | os.O_APPEND)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            os.write(notes, "".join(f"{click['id']}\n" for click in message["data"]["clicks"]).encode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def _received(path: Path) -> set[str]:
    # A killed process may have written a part.
    return {line for line in path.read_text().splitlines() if len(line) == 32}
