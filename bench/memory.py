"""Memory of the whole service and the time that it takes to start: python -m bench.memory [--links N]
    [--small] [--workers N]

Starts an installation with its embedded database, loads links, starts it again, and lets visitors and API clients use
it. Prints the proportional set size of each kind of process, and the sum.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

from bench.harness.client import link_body
from bench.harness.results import record
from bench.harness.stack import service_folder
from testing.service import processes
from testing.service.resident import members, peak_memory, pss_mib
from testing.service.running import Connection, Service, eventually

VISITORS, API_CLIENTS = 8, 8
VISITS, API_CALLS = 20_000, 800
# Until the background processes have done their first work.
SETTLE_SECONDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--small", action="store_true", help="SMALL=yes, with one worker of each kind")
    parser.add_argument("--workers", type=int, help="of each kind; 2 without --small")
    options = parser.parse_args()
    workers = str(options.workers or (1 if options.small else 2))
    layout = {
        "WEB_CONCURRENCY": workers,
        "API_CONCURRENCY": workers,
        "SMALL": "yes" if options.small else "no",
    }
    with service_folder() as folder:
        service = Service(folder / "service", LOG_LEVEL="WARNING", **layout)
        try:
            measure(service, options)
        finally:
            service.end()


def measure(service: Service, options: argparse.Namespace) -> None:
    # These modules read the settings, which name the database of the service.
    from django.db import connection

    from accounts.services import rotate_api_key
    from bench.load.plain_links import plain_destinations, plain_owner

    links = options.links
    first = start_seconds(service)
    print(f"first start: {first:.1f} s")
    codes = list(plain_destinations(links))
    api_key = rotate_api_key(user=plain_owner())
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()
    service.stop()
    again = start_seconds(service)
    print(f"start with {links:,} links: {again:.1f} s")
    time.sleep(SETTLE_SECONDS)
    idle = print_memory(service, "idle")
    with peak_memory(service) as peak:
        rate = use(service, codes, api_key)
    time.sleep(SETTLE_SECONDS)
    used = print_memory(service, f"after {VISITS:,} visits at {rate:,.0f}/s and {API_CALLS} API calls")
    print(f"highest sum meanwhile: {peak.mib:.0f} MiB")
    if options.workers:
        return
    if options.small:
        record("memory-small", f"{idle}; {used}; at most {peak.mib:.0f} MiB at {rate:,.0f} visits/s")
    else:
        record("memory-service", f"{idle}; {used}; at most {peak.mib:.0f} MiB")
        record("start", f"{first:.1f} s; {again:.1f} s with {links:,} links")


def start_seconds(service: Service) -> float:
    """The time from the start until the service is ready."""
    started = time.monotonic()
    service.launch()
    eventually(service.is_ready, every=0.01)
    seconds = time.monotonic() - started
    eventually(service.has_all_workers)
    return seconds


def use(service: Service, codes: list[str], api_key: str) -> float:
    """Follow random links, then create and list links. Returns the visits per second."""

    def visit(seed: int) -> None:
        chosen = random.Random(seed).choices(codes, k=VISITS // VISITORS)
        with closing(Connection(service.port)) as connection:
            for code in chosen:
                assert connection.call("GET", f"/{code}").status == 302

    def manage(number: int) -> None:
        with closing(Connection(service.port)) as connection:
            for call in range(API_CALLS // API_CLIENTS // 2):
                body = link_body(number * API_CALLS + call)
                assert connection.call("POST", "/api/urls", body, X_API_Key=api_key).status == 201
                assert connection.call("GET", "/api/urls", X_API_Key=api_key).status == 200

    with ThreadPoolExecutor(max(VISITORS, API_CLIENTS)) as pool:
        started = time.monotonic()
        list(pool.map(visit, range(VISITORS)))
        rate = VISITS / (time.monotonic() - started)
        list(pool.map(manage, range(API_CLIENTS)))
    return rate


def print_memory(service: Service, when: str) -> str:
    """Returns the sum as text."""
    sizes: dict[str, list[float]] = defaultdict(list)
    postmaster = service.postmaster()
    for pid in members(service):
        with suppress(OSError, ValueError):
            sizes[kind(pid, postmaster)].append(pss_mib(pid))
    total, number = sum(map(sum, sizes.values())), sum(map(len, sizes.values()))
    print(f"{when}: {total:.0f} MiB in {number} processes")
    for name, values in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        print(f"  {sum(values):7.1f} MiB  {len(values):2} x {name}")
    return f"{total:.0f} MiB in {number} processes {when}"


def kind(pid: int, postmaster: int | None) -> str:
    words = [word.decode(errors="replace") for word in processes.command_line(pid) if word]
    if pid == postmaster:
        return "PostgreSQL: postmaster"
    if words and words[0].startswith("postgres: "):
        title = words[0].split(": ")[-1]
        return "PostgreSQL: connections" if "[local]" in title else "PostgreSQL: background"
    if words[:1] == ["shortener"]:
        return " ".join(words[1:])
    return "guard" if any("local_postgres" in word for word in words) else "supervisor"


if __name__ == "__main__":
    main()
