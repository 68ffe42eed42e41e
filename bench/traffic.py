"""Clicks as varied as those of a busy service: 10,000 links (zipf), 5,000 agents, 100,000 addresses, 200 referrers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import accumulate

from analytics.models import Kind
from analytics.records import Record

LINKS, AGENTS, ADDRESSES, SITES = 10_000, 5_000, 100_000, 200
# So many of ten visits name where they come from.
REFERRED = 4


class Traffic:
    def __init__(self, link_ids: list[int], seed: int = 1) -> None:
        self._chance = chance = random.Random(seed)
        self._links = link_ids
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(len(link_ids))))
        self._agents = [_agent(number) for number in range(AGENTS)]
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


def _agent(number: int) -> str:
    version = 100 + number % 50
    system = (
        "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64",
        "Linux; Android 14; SM-S921B", "Linux; Android 15; Pixel 9",
    )[number % 5]  # fmt: skip
    mobile = " Mobile" if "Android" in system else ""
    match number % 4:
        case 0:
            return (
                f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_{number % 7} like Mac OS X) AppleWebKit/605.1.15 "
                f"(KHTML, like Gecko) Version/18.{number % 7} Mobile/15E{number} Safari/604.1"
            )
        case 1:
            return f"Mozilla/5.0 (X11; Linux x86_64; rv:{version}.{number}) Gecko/20100101 Firefox/{version}.{number}"
        case 2:
            extra = f" Edg/{version}.0.{number}.0"
        case _:
            extra = ""
    return (
        f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.{number}.0{mobile} Safari/537.36{extra}"
    )
