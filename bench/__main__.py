"""python -m bench [NAME] [options]: run one benchmark, proof or fuzzer; without a name, every benchmark.

Options are passed on: `python -m bench NAME --help` shows them. `python -m bench list` lists the names.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import NamedTuple

from bench.harness.results import PROJECT_DIR


class Program(NamedTuple):
    module: str
    help: str


BENCHMARKS = {
    "redirects": Program("bench.redirects", "Redirects, compared with nginx and a plain Django view"),
    "cold": Program("bench.cold", "Redirects of links that are not in memory, and with limits on clicks"),
    "changes": Program("bench.changes", "How soon changes take effect, and redirects without the database"),
    "domains": Program("bench.domains", "Redirects during a large deletion and while DNS does not reply"),
    "links": Program("bench.links", "Listing and searching a million links"),
    "api": Program("bench.api", "Creating, reading and updating a link, compared with a stock DRF project"),
    "clicks": Program("bench.clicks", "Recording, counting and reporting clicks"),
    "click-cost": Program("bench.click_cost", "Processor time and bytes of the database for a click"),
    "drain": Program("bench.beside_drain", "The API while a backlog is counted"),
    "two-drainers": Program("bench.two_drainers", "Two drainers against one, on links of one owner"),
    "standbys": Program("bench.standbys", "What two standbys cost the drainer and creating links"),
    "dashboard": Program("bench.dashboard", "The dashboard: bytes, requests with much data, Lighthouse"),
    "reports": Program("bench.reports", "Reports of a workspace with a million links and ten million clicks"),
    "bulk": Program("bench.bulk", "Bulk calls, an import of 100,000 links, an export of a million"),
    "qr": Program("bench.qr", "Drawing QR codes, and redirects meanwhile"),
    "qr-colors": Program("bench.qr_colors", "Which pairs of colours a QR code reader can tell apart"),
    "limits": Program("bench.limits", "Counting requests, and creating with an idempotency key"),
    "logins": Program("bench.logins", "Whether response times reveal which accounts exist"),
    "unknown-ids": Program("bench.unknown_ids", "Whether response times reveal ids of other workspaces"),
    "observing": Program("bench.observing", "The cost of metrics and logging"),
    "slow-clients": Program("bench.slow_clients", "Redirects beside slow and stalled clients"),
    "memory": Program("bench.memory", "Memory of all processes, and the time to start; ARGS=--small"),
    "small-host": Program("bench.small_host", "10,000 links on one core, within 400 MB"),
}
# Not among the benchmarks: it needs an argument.
COMPARISONS = {
    "compare": Program("bench.compare", "Redirect and create rates against another commit: ARGS=COMMIT"),
}
PROOFS = {
    "prove-clicks": Program(
        "bench.prove_clicks", "Kill, cut and fill everything: no click of a redirect is lost"
    ),
    "prove-faults": Program(
        "bench.prove_faults",
        "Outages, failovers, restores, frozen and dying processes, wrong clocks: nothing is lost",
    ),
    "prove-failover": Program(
        "bench.failover", "Faults of a cluster in network namespaces: nothing acknowledged is lost"
    ),
    "prove-keys": Program("bench.rotations", "200,000 calls with replaced API keys: none is accepted"),
    "attack": Program(
        "bench.attack",
        "Slow clients, raw requests, costly bodies, guesses, lock-outs; ARGS=--short takes minutes",
    ),
    "fuzz-api": Program("bench.schemathesis", "34,000 requests generated from the API description"),
    "fuzz-requests": Program(
        "bench.fastlane.raw_requests", "30,000 raw requests, compared with stock gunicorn"
    ),
    "fuzz-loops": Program(
        "bench.fastlane.loops", "20,000 conversations with the compiled event loop and the Python one"
    ),
}
# An installation without the fast lane has none of its proofs.
if find_spec("bench.fastlane") is None:
    del PROOFS["fuzz-requests"], PROOFS["fuzz-loops"]
PROGRAMS = BENCHMARKS | COMPARISONS | PROOFS


def main(arguments: list[str]) -> int:
    """The exit status: the highest of the programs that ran, or 2 for an unknown name."""
    if not arguments:
        return max(run(name) for name in BENCHMARKS)
    name, *options = arguments
    if name in PROGRAMS:
        return run(name, *options)
    print(listing())
    return 0 if name == "list" else 2


def run(name: str, *options: str) -> int:
    command = [sys.executable, "-m", PROGRAMS[name].module, *options]
    return subprocess.run(command, cwd=PROJECT_DIR, check=False).returncode


def listing() -> str:
    lines = ["make bench NAME=…, or make bench for all of these:", *map(_line, BENCHMARKS)]
    lines += ["make bench NAME=… ARGS=…:", *map(_line, COMPARISONS)]
    return "\n".join([*lines, "make prove NAME=…, or make NAME:", *map(_line, PROOFS)])


def _line(name: str) -> str:
    return f"  {name:<15} {PROGRAMS[name].help}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
