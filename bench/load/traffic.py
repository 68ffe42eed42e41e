"""Clicks as varied as on a busy service: 10,000 links (Zipf), 5,000 agents, 100,000 addresses, 200 referrers, 10
languages.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from analytics.journal.records import Record
from analytics.models import Kind
from analytics.visitors.geo import geo
from testing.visitors.agents import agent

LINKS, AGENTS, ADDRESSES, SITES = 10_000, 5_000, 100_000, 200
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ja", "pl", "nl", "tr")
# Visits out of ten that send a referrer, and visitors out of ten with the language of their country.
REFERRED, AT_HOME = 4, 8


class Traffic:
    def __init__(self, link_ids: list[int], seed: int = 1, *, uniform: bool = False) -> None:
        """``uniform``: all links are equally popular."""
        self._rng = rng = random.Random(seed)
        self._links = link_ids
        shares = (1.0 if uniform else 1 / (rank + 1) for rank in range(len(link_ids)))
        self._weights = list(accumulate(shares))
        self._agents = [agent(number) for number in range(AGENTS)]
        self._addresses = [
            f"{rng.randrange(1, 223)}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}"
            for _ in range(ADDRESSES)
        ]
        own = defaultdict[str | None, str](lambda: rng.choice(LANGUAGES))
        self._languages = {
            address: own[geo().locate(address).country]
            if rng.randrange(10) < AT_HOME
            else rng.choice(LANGUAGES)
            for address in self._addresses
        }
        self._referrers = [f"https://www.site{number}.example/page/{number}" for number in range(SITES)]

    def records(self, count: int, *, spread: int = 0) -> Iterator[Record]:
        """Clicks dated now, or in order over the last ``spread`` seconds."""
        rng, now = self._rng, time.time_ns() // 1000
        for number, link in enumerate(rng.choices(self._links, cum_weights=self._weights, k=count)):
            address = rng.choice(self._addresses)
            yield Record(
                time=now - int(spread * 1_000_000 * (1 - number / count)),
                subject=link,
                kind=Kind.CLICK,
                flags=0,
                address=address,
                reason="",
                user_agent=rng.choice(self._agents),
                referrer=rng.choice(self._referrers) if rng.randrange(10) < REFERRED else "",
                language=self._languages[address],
            )
