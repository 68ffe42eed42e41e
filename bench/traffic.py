"""Clicks as varied as those of a busy service: 10,000 links (zipf), 5,000 agents, 100,000 addresses, 200 referrers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import accumulate

from analytics.models import Kind
from analytics.records import Record
from bench.agents import agent

LINKS, AGENTS, ADDRESSES, SITES = 10_000, 5_000, 100_000, 200
# So many of ten visits name where they come from.
REFERRED = 4


class Traffic:
    def __init__(self, link_ids: list[int], seed: int = 1) -> None:
        self._chance = chance = random.Random(seed)
        self._links = link_ids
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(link_ids))))
        self._agents = [agent(number) for number in range(AGENTS)]
        self._addresses = [
            f"{chance.randrange(1, 223)}.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(256)}"
            for _ in range(ADDRESSES)
        ]
        self._referrers = [f"https://www.site{number}.example/page/{number}" for number in range(SITES)]

    def records(self, count: int, *, spread: int = 0) -> Iterator[Record]:
        """Clicks of now, or of the last ``spread`` seconds in their order."""
        chance, now = self._chance, time.time_ns() // 1000
        for number, link in enumerate(chance.choices(self._links, cum_weights=self._weights, k=count)):
            yield Record(
                time=now - int(spread * 1_000_000 * (1 - number / count)),
                subject=link,
                kind=Kind.CLICK,
                flags=0,
                address=chance.choice(self._addresses),
                reason="",
                user_agent=chance.choice(self._agents),
                referrer=chance.choice(self._referrers) if chance.randrange(10) < REFERRED else "",
            )
