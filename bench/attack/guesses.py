"""python -m bench.attack.guesses [--requests N]: how many codes a network can try, and what it learns above its limit.

A network guesses until the service refuses it. Then it alternates between existing codes, each used once, and unknown
codes. It varies its addresses, the method and the path. Prints the attempts and the results. The exit status is 1 if
the service served more requests than the limit allows in this time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from http.client import HTTPConnection
from typing import NamedTuple

from bench.harness.running import installation
from bench.harness.stack import service_folder

FORWARDED_FOR = "X-Forwarded-For"
LIMIT = 60


class Attack(NamedTuple):
    """All ``addresses`` together have ``factor`` times the limit."""

    name: str
    addresses: list[str]
    factor: int = 1
    method: str = "GET"
    suffix: str = ""


ATTACKS = (
    Attack("one address", ["203.0.113.5"]),
    Attack("HEAD", ["198.51.100.5"], method="HEAD"),
    Attack("previews", ["192.0.2.5"], suffix="+"),
    Attack("a whole /24", [f"100.64.1.{host}" for host in range(1, 255)]),
    Attack("a whole /56", [f"2001:db8:1:{net:x}::1" for net in range(256)]),
    Attack("a whole /48", [f"2001:db8:2:{net:x}00::1" for net in range(256)], factor=4),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2_000)
    count = parser.parse_args().requests
    with service_folder() as folder:
        environment = {"UNKNOWN_CODE_LIMIT": str(LIMIT), "TRUSTED_PROXIES": "127.0.0.0/8"}
        with installation(folder, **environment) as service:
            key = service.owner.api_key
            items = [
                {"originalUrl": "https://example.com/", "customCode": f"hit{n}"} for n in range(count // 2)
            ]
            for first in range(0, len(items), 1_000):
                sent = {"urls": items[first : first + 1_000]}
                assert service.call("POST", "/api/urls/bulk", sent, **{"X-API-Key": key}).status < 300
            held = [_try(service.port, attack, count) for attack in ATTACKS]
    if not all(held):
        raise SystemExit(1)


def _try(port: int, attack: Attack, count: int) -> bool:
    """Whether the service enforced the limit."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)

    def request(code: str, number: int) -> int:
        headers = {
            "Host": f"127.0.0.1:{port}",
            FORWARDED_FOR: attack.addresses[number % len(attack.addresses)],
        }
        connection.request(attack.method, f"/{code}{attack.suffix}", headers=headers)
        response = connection.getresponse()
        response.read()
        return response.status

    started = time.monotonic()
    free = 0
    while request(f"guess{free}", free) == 404:
        free += 1
    admitted, times = [0, 0], ([], [])
    for number in range(count):
        is_hit = number % 2
        start = time.perf_counter()
        status = request(f"hit{number // 2}" if is_hit else f"wrong{number}", number)
        times[is_hit].append(time.perf_counter() - start)
        admitted[is_hit] += status != 429
    seconds = time.monotonic() - started
    connection.close()
    allowed = LIMIT * attack.factor * (1 + seconds / 60) + 1
    miss, hit = (statistics.median(latencies) * 1e6 for latencies in times)
    print(
        f"{attack.name:12} {seconds:5.1f} s: {free} guesses served at first, of {count} more requests"
        f" {admitted[0]} that missed and {admitted[1]} that hit (misses allowed: {allowed:.0f});"
        f" refused in {miss:.0f} us (miss) and {hit:.0f} us (hit)",
        flush=True,
    )
    return free + admitted[0] <= allowed and admitted[1] <= 2 * (admitted[0] + 1) * attack.factor


if __name__ == "__main__":
    main()
