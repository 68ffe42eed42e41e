"""Creators and editors of links, who know what has been acknowledged, and those who look at the edits afterwards."""

from __future__ import annotations

import random
import secrets
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from testing.failover.client import NO_ANSWER, Client
from testing.failover.history import Addition, Listing
from testing.failover.visits import PASSWORD, Clicks, Links
from testing.failover.workers import Problems, Pulse, Worker

DESTINATION = "https://example.com/page"
# Statuses after which the outcome of a write is unknown, or after which it has surely not happened for now.
LATER = {409, 429, 500, 502, 503, 504}
CAP = 25
# Linux repeats a request for up to 102 s after its client has given up.
LATE_SECONDS = 120.0
# Creations with the same tag, which fit on one page of the list.
OF_ONE_TAG = 80


@dataclass
class Creations:
    """``codes`` are of acknowledged links, by title. ``additions`` are sets, by the tag of their links."""

    codes: dict[str, str] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)
    additions: dict[str, list[Addition]] = field(default_factory=dict)
    listings: dict[str, list[Listing]] = field(default_factory=dict)
    tag: str = ""
    repeats: int = 0


class Creator(Worker):
    """Creates links, each with an Idempotency-Key, and repeats the request until it is acknowledged."""

    def __init__(
        self, name: str, pause: float, problems: Problems, *, client: Client, key: str,
        creations: Creations, links: Links, pulse: Pulse,
    ) -> None:  # fmt: skip
        super().__init__(name, pause, problems)
        self._client, self._key, self._creations, self._links, self._pulse = (
            client,
            key,
            creations,
            links,
            pulse,
        )
        self._number = 0

    def step(self) -> None:
        creations = self._creations
        tag = creations.tag
        if not tag or len(creations.additions[tag]) >= OF_ONE_TAG:
            tag = f"set-{secrets.token_hex(4)}"
            creations.additions[tag], creations.listings[tag] = [], []
            creations.tag = tag
        self._number += 1
        title = f"{self.name}-{self._number}"
        creations.titles.add(title)
        body: dict[str, object] = {"originalUrl": f"{DESTINATION}/{title}", "title": title, "tags": [tag]}
        if self._number % 10 == 0:
            body["restrictions"] = {"maxClicks": CAP}
        first = time.monotonic()
        code = self._create(title, body)
        creations.additions[tag].append(Addition(title, first, inf if code is None else time.monotonic()))
        if code is not None:
            creations.codes[title] = code
            if "restrictions" in body:
                self._links.caps[code] = CAP
                self._links.open.append(code)

    def _create(self, title: str, body: dict[str, object]) -> str | None:
        """The code of the created link, or None if this worker is stopped before it knows one."""
        while True:
            response = self._pulse.watch(
                lambda: self._client.call(
                    "POST", "/api/urls", body, X_API_Key=self._key, Idempotency_Key=f"create-{title}"
                )
            )
            if response is not None:
                if response.status == 201:
                    code: str = response.json()["data"]["url"]["shortCode"]
                    return code
                if response.status not in LATER:
                    self.problems.add(f"a creation got {response.status}: {response.body[:200]!r}")
                    return None
            self._creations.repeats += 1
            if self._stopped.wait(0.2):
                return None


class SetReader(Worker):
    """Lists the links of the present tag and of the one before."""

    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        clients: Sequence[Client],
        key: str,
        creations: Creations,
    ) -> None:
        super().__init__(name, pause, problems)
        self._clients, self._key, self._creations = clients, key, creations

    def step(self) -> None:
        for tag in list(self._creations.additions)[-2:]:
            began = time.monotonic()
            try:
                response = random.choice(self._clients).call(
                    "GET", f"/api/urls?tags={tag}&limit=100", X_API_Key=self._key
                )
            except NO_ANSWER:
                continue
            if response.status == 200:
                titles = frozenset(link["title"] for link in response.json()["data"]["urls"])
                self._creations.listings[tag].append(Listing(titles, began, time.monotonic()))


@dataclass
class Edited:
    """A link whose destination one editor changes to one number after the other.

    ``acknowledged`` has each number with the moment of its response and the host, ``unknown`` those without an answer
    with the moment of the request.
    """

    identifier: str
    code: str
    acknowledged: list[tuple[int, float, str]] = field(default_factory=list)
    unknown: dict[int, float] = field(default_factory=dict)

    def may_end_at(self, number: int) -> bool:
        """Whether the database may have this number at the end of the run; 0: no edit."""
        last, moment, _ = self.acknowledged[-1] if self.acknowledged else (0, 0.0, "")
        if number == last:
            return True
        # One from before the last acknowledged edit must have happened after it.
        return number in self.unknown and (number > last or moment - self.unknown[number] <= LATE_SECONDS)


class Editor(Worker):
    """Edits its link through one host, and through another one after a failure."""

    def __init__(
        self, name: str, pause: float, problems: Problems, *, clients: dict[str, Client], key: str, link: Edited,
        pulse: Pulse,
    ) -> None:  # fmt: skip
        super().__init__(name, pause, problems)
        self._clients, self._key, self._link, self._pulse = clients, key, link, pulse
        self._host = random.choice([*clients])
        self._number = 0

    def step(self) -> None:
        self._number += 1
        number = self._number
        # Until it is acknowledged, it may have happened, or may happen yet.
        self._link.unknown[number] = time.monotonic()
        path, body = f"/api/urls/{self._link.identifier}", {"targetUrl": f"{DESTINATION}/{number}"}
        client = self._clients[self._host]
        response = self._pulse.watch(lambda: client.call("PUT", path, body, X_API_Key=self._key))
        if response is not None:
            if response.status == 200:
                self._link.acknowledged.append((number, time.monotonic(), self._host))
                del self._link.unknown[number]
                return
            if response.status not in LATER:
                self.problems.add(f"an edit got {response.status}: {response.body[:200]!r}")
        self._host = random.choice([name for name in self._clients if name != self._host])


@dataclass
class Stale:
    """A visit on ``host`` that got an old destination ``age`` seconds after the next one had been acknowledged.

    ``allowed``: up to which age documents allow it.
    """

    moment: float
    age: float
    host: str
    by: str
    readiness: str = ""
    allowed: float = 0


class EditChecker(Worker):
    """Follows the edited links on one host."""

    def __init__(
        self, name: str, pause: float, problems: Problems, *, host: str, client: Client, links: list[Edited],
        clicks: Clicks, stale: list[Stale], pulse: Pulse,
    ) -> None:  # fmt: skip
        super().__init__(name, pause, problems)
        self._host, self._client, self._links, self._clicks = host, client, links, clicks
        self._stale, self._pulse = stale, pulse

    def step(self) -> None:
        link = random.choice(self._links)
        began = time.monotonic()
        response = self._pulse.watch(lambda: self._clicks.follow(self._client, link.code))
        if response is None:
            return
        if response.status == 302:
            self._check(link, began, response.headers["Location"])
        elif response.status not in {503}:
            self.problems.add(f"an edited link got {response.status} on {self._host}")

    def _check(self, link: Edited, began: float, location: str) -> None:
        shown = int(location.rpartition("/")[2]) if location != DESTINATION else 0
        # A number that has no answer yet may appear whenever.
        if shown in link.unknown:
            return
        later = bisect_right(link.acknowledged, shown, key=lambda edit: edit[0])
        if later < len(link.acknowledged):
            _, moment, host = link.acknowledged[later]
            if moment < began:
                self._stale.append(Stale(began, began - moment, self._host, host))


def link_bodies() -> list[dict[str, object]]:
    """The links that the load needs before it begins."""
    plain: list[dict[str, object]] = [{"title": f"plain-{number}"} for number in range(20)]
    protected: list[dict[str, object]] = [
        {"title": f"protected-{number}", "password": PASSWORD} for number in range(3)
    ]
    return [{"originalUrl": DESTINATION, **fields} for fields in [*plain, *protected]]
