"""Redirects of links with three rules and a split, relative to those of plain links in the same rounds.

Both get the same requests: visitors with different addresses, languages and user agents, and some with a query.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import cycle, islice
from pathlib import Path

from bench.harness.processes import pin, tree
from bench.harness.results import spread
from bench.harness.running import web_server
from bench.load import wrk
from bench.load.routed_links import FORWARDING as FORWARDING_LINKS
from bench.load.routed_links import ROUTED as ROUTED_LINKS
from bench.load.routed_links import routed_codes
from bench.load.visits import LANGUAGES, Visits, address
from bench.redirects.ledger import Ledger
from bench.redirects.proxied import proxied
from bench.redirects.warm import warm
from testing.service.running import Service

TARGET = 0.6
PLAIN, ROUTED = "plain", "three rules and a split"
FORWARDING = "six conditions, a split, forwarded query"
_ADDRESSES = 20_000
# A third of the visitors have a query. Few have the value of the routed links' condition.
_QUERIES = ("", "", "?campaign=summer&ref=newsletter", "", "", "?ref=site", "", "", "?campaign=autumn")


def visits_of(folder: Path, plain: Collection[str], routed: int, host: str) -> dict[str, Visits]:
    """Visits of the plain links with these codes, and as many of ``routed`` links with rules of either kind."""
    draw = random.Random(20270328)
    addresses = [address(draw.getrandbits(32)) for _ in range(_ADDRESSES)]
    varieties = {ROUTED: ROUTED_LINKS, FORWARDING: FORWARDING_LINKS}
    codes = {PLAIN: plain} | {
        name: islice(cycle(routed_codes(routed, variety)), len(plain)) for name, variety in varieties.items()
    }
    return {
        name: Visits(
            folder / f"rules{number}",
            ((f"/{code}{query}", host) for code, query in zip(codes[name], cycle(_QUERIES), strict=False)),
            languages=LANGUAGES,
            addresses=addresses,
        )
        for number, name in enumerate(codes)
    }


def measure(
    service: Service,
    api_key: str,
    visits: dict[str, Visits],
    rounds: int,
    *,
    seconds: int,
    cores: tuple[Iterable[int], Iterable[int]],
) -> dict[str, str]:
    """Restart the service behind a proxy, measure, and restart it without. ``cores``: of the server and of wrk.

    Return figures by key of `bench.catalog`.
    """
    server_cores, client_cores = cores
    with proxied(service, api_key) as ledger:
        for of_kind in visits.values():
            warm(ledger, service, of_kind)
        pin(tree(web_server(service)), server_cores)
        figures = _rounds(ledger, service.port, visits, seconds=seconds, rounds=rounds, cores=client_cores)
        pin(tree(web_server(service)), wrk.ALL_CORES)
    return figures


def _rounds(
    ledger: Ledger, port: int, visits: dict[str, Visits], *, seconds: int, rounds: int, cores: Iterable[int]
) -> dict[str, str]:
    """Print the results. Exits with 1 below the target."""
    rates: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        for name in random.Random(number).sample(sorted(visits), len(visits)):
            answered = ledger.add(wrk.load(port, visits[name], seconds=seconds, cores=cores))
            rates[name].append(answered.rate)
    ratios = {
        name: [routed / plain for routed, plain in zip(measured, rates[PLAIN], strict=True)]
        for name, measured in rates.items()
    }
    print(f"\n  links with rules, min / median / max of {rounds} rounds")
    for name, measured in rates.items():
        print(f"    {name:42} {spread(measured, '8,.0f')} requests/s, ratio {spread(ratios[name], '.3f')}")
    median = sorted(ratios[ROUTED])[len(ratios[ROUTED]) // 2]
    print(f"    {ROUTED}: at least {TARGET:g}: {'yes' if median >= TARGET else 'NO'}", flush=True)
    if median < TARGET:
        sys.exit(1)
    figure = f"{spread(ratios[ROUTED], '.2f')}; {FORWARDING} {spread(ratios[FORWARDING], '.2f')}"
    return {"redirects-rules": figure}
