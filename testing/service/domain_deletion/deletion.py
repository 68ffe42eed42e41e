"""Deletes a domain with many links while these and other links are followed, and checks that no link is lost."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException

from testing.background import running
from testing.service.domain_deletion.customer import DEFAULT, GOING, Customer
from testing.service.domain_deletion.follow import wrong_redirects
from testing.service.running import Connection, Service, eventually

PAUSE_SECONDS = 0.005


@dataclass
class Outcome:
    """``going``: statuses from the deleted domain for requests sent before, during and after the deletion."""

    message: str = ""
    seconds: float = 0.0
    responses: int = 0
    failures: list[str] = field(default_factory=list)
    going: dict[str, Counter[int]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def deleted(service: Service, api_key: str, to_go: Customer, *, around_seconds: float) -> Outcome:
    """Visitors send requests from ``around_seconds`` before the deletion until as long after it,
    and longer on a slow machine.
    """
    outcome = Outcome(going={when: Counter() for when in ("before", "during", "after")})
    phase = ["before"]
    with _visitors(service.port, to_go, outcome, phase):
        time.sleep(around_seconds)
        eventually(lambda: outcome.going["before"])
        phase[0], started = "during", time.monotonic()
        response = service.call("DELETE", f"/api/domains/{to_go.domain}", X_API_Key=api_key)
        phase[0], outcome.seconds = "after", time.monotonic() - started
        time.sleep(around_seconds)
        eventually(lambda: outcome.going["after"])
    if response.status != 200:
        outcome.failures.append(f"DELETE: {response}")
    outcome.message = response.json()["message"]
    outcome.lost = wrong_redirects(service.port, DEFAULT, to_go.destinations_after_deletion())
    return outcome


@contextmanager
def _visitors(port: int, to_go: Customer, outcome: Outcome, phase: list[str]) -> Iterator[None]:
    stop = threading.Event()
    threads = [
        threading.Thread(target=_visit_others, args=(port, to_go.others, outcome, stop)),
        threading.Thread(target=_visit_others, args=(port, to_go.others, outcome, stop)),
        threading.Thread(target=_visit_going, args=(port, to_go.links, outcome, phase, stop)),
    ]
    with running(threads, stop):
        yield


def _visit_others(
    port: int, others: Mapping[tuple[str, str], str], outcome: Outcome, stop: threading.Event
) -> None:
    links = list(others.items())
    with closing(Connection(port)) as connection:
        while not stop.wait(PAUSE_SECONDS):
            (host, code), url = random.choice(links)
            try:
                reply = connection.call("GET", f"/{code}", Host=host)
                response = (reply.status, reply.headers["Location"])
            except (OSError, HTTPException) as error:
                response = (0, repr(error))
                connection.close()
            outcome.responses += 1
            if response != (302, url):
                outcome.failures.append(f"{host}/{code}: {response}")


def _visit_going(port: int, links: int, outcome: Outcome, phase: list[str], stop: threading.Event) -> None:
    with closing(Connection(port)) as connection:
        while not stop.wait(PAUSE_SECONDS):
            sent = phase[0]
            response = connection.call("GET", f"/going{random.randint(1, links)}", Host=GOING)
            # A request sent in one phase whose response arrives in the next can have either status.
            when = sent if sent == phase[0] else "during"
            outcome.going[when][response.status] += 1
