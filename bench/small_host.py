"""python -m bench.small_host [--links N] [--rate N] [--seconds S] [--limit MIB]

A service with SMALL=yes on one core, in a control group that limits its memory: creates links in bulk, then follows
them at a fixed rate. Needs root and a machine that lets root make control groups.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from bench.harness import tools
from bench.harness.processes import pin, tree
from bench.harness.results import record
from bench.harness.stack import service_folder
from bench.load import wrk
from bench.load.visits import Visits
from bench.load.wrk import ALL_CORES
from testing.service.control_group import ControlGroup, memory_limited
from testing.service.resident import peak_memory
from testing.service.running import Service, eventually

LINKS_PER_CALL = 500
# wrk waits for a response before it pauses, so its rate stays a little below the requested rate.
PACE_MARGIN = 1.05
SMALL = {"SMALL": "yes", "WEB_CONCURRENCY": "1", "API_CONCURRENCY": "1", "LOG_LEVEL": "WARNING"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=10_000)
    parser.add_argument("--rate", type=int, default=1_000, help="redirects per second")
    parser.add_argument("--seconds", type=int, default=30)
    # 400 MB.
    parser.add_argument("--limit", type=int, default=381, help="MiB")
    options = parser.parse_args()
    tools.require("wrk")
    with service_folder() as folder, memory_limited(options.limit) as group:
        if group is None:
            print("NOT MEASURED: this machine does not let this account limit the memory of a control group.")
            return
        service = Service(folder / "service", python=group.entered_by(sys.executable), **SMALL)
        try:
            measure(service, folder, group, options)
        finally:
            service.end()


def measure(service: Service, folder: Path, group: ControlGroup, options: argparse.Namespace) -> None:
    service.launch()
    # Processes that they start later inherit this.
    pin(tree(service.process.pid), ALL_CORES[:1])
    eventually(service.is_healthy)
    with peak_memory(service) as peak:
        started = time.monotonic()
        codes = created(service, options.links)
        seconds = time.monotonic() - started
        print(
            f"{options.links:,} links created in {seconds:.1f} s, {group.killed()} processes killed",
            flush=True,
        )
        visits = Visits(folder / "visits", ((f"/{code}", f"127.0.0.1:{service.port}") for code in codes))
        result = wrk.load(
            service.port,
            visits,
            seconds=options.seconds,
            pace=options.rate * PACE_MARGIN,
            cores=ALL_CORES[-1:],
        )
    figure = (
        f"{options.links:,} links created in {seconds:.1f} s, then {result.rate:,.0f} redirects/s for"
        f" {options.seconds} s: {result.errors} errors, p99 {result.p99:.1f} ms; {group.killed()} processes killed"
        f" with {options.limit} MiB; at most {peak.mib:.0f} MiB (PSS)"
    )
    print(figure)
    record("memory-limit", figure)


def created(service: Service, count: int) -> list[str]:
    """The codes of new links."""
    codes: list[str] = []
    while len(codes) < count:
        numbers = range(len(codes), min(len(codes) + LINKS_PER_CALL, count))
        body = {"urls": [{"originalUrl": f"https://example.com/page/{number}"} for number in numbers]}
        response = service.call("POST", "/api/urls/bulk", body, X_API_Key=service.owner.api_key)
        if response.status != 200:
            raise RuntimeError(str(response))
        codes += [result["url"]["shortCode"] for result in response.json()["data"]["results"]]
    return codes


if __name__ == "__main__":
    main()
