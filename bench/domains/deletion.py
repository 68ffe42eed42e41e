"""A domain with many links is deleted while they and others are followed: nobody else notices, and no link is lost."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException

from bench.domains.customer import GOING, HOME, Customer
from bench.follow import wrong_answers
from tests.service.running import Connection, Service

PAUSE_SECONDS = 0.005


@dataclass
class Outcome:
    """``going``: statuses of the removed host to requests sent before the deletion, during it and after its answer."""

    message: str = ""
    seconds: float = 0.0
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    going: dict[str, Counter[int]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def deleted(service: Service, api_key: str, to_go: Customer, *, around_seconds: float) -> Outcome:
    """Visitors come from some time before to some time after."""
    outcome = Outcome(going={when: Counter() for when in ("before", "during", "after")})
    phase = ["before"]
    with _visitors(service.port, to_go, outcome, phase):
        time.sleep(around_seconds)
        phase[0], started = "during", time.monotonic()
        answer = service.ask("DELETE", f"/api/domains/{to_go.domain}", X_API_Key=api_key)
        phase[0], outcome.seconds = "after", time.monotonic() - started
        time.sleep(around_seconds)
    if answer.status != 200:
        outcome.failures.append(f"DELETE: {answer}")
    outcome.message = answer.json()["message"]
    outcome.lost = wrong_answers(service.port, HOME, to_go.at_home())
    return outcome


@contextmanager
def _visitors(port: int, to_go: Customer, outcome: Outcome, phase: list[str]) -> Iterator[None]:
    enough = threading.Event()
    threads = [
        threading.Thread(target=_visit_others, args=(port, to_go.others, outcome, enough)),
        threading.Thread(target=_visit_others, args=(port, to_go.others, outcome, enough)),
        threading.Thread(target=_visit_going, args=(port, to_go.links, outcome, phase, enough)),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def _visit_others(
    port: int, others: Mapping[tuple[str, str], str], outcome: Outcome, enough: threading.Event
) -> None:
    wanted = list(others.items())
    with closing(Connection(port)) as connection:
        while not enough.wait(PAUSE_SECONDS):
            (host, code), url = random.choice(wanted)
            try:
                answer = connection.ask("GET", f"/{code}", Host=host)
                found = (answer.status, answer.headers["Location"])
            except (OSError, HTTPException) as error:
                found = (0, repr(error))
                connection.close()
            outcome.answered += 1
            if found != (302, url):
                outcome.failures.append(f"{host}/{code}: {found}")


def _visit_going(port: int, links: int, outcome: Outcome, phase: list[str], enough: threading.Event) -> None:
    with closing(Connection(port)) as connection:
        while not enough.wait(PAUSE_SECONDS):
            sent = phase[0]
            answer = connection.ask("GET", f"/going{random.randint(1, links)}", Host=GOING)
            # One that was sent before and answered meanwhile may have met either.
            when = sent if sent == phase[0] else "during"
            outcome.going[when][answer.status] += 1
