"""python -m bench.click_cost [--only cpu|bytes] [--rounds N] [--seconds S] [--rate N] [--clicks N] [--workers N]

What a click costs from its request until it is counted: the processor time of all processes, the bytes by which it
makes the database larger, and those of the database's log. `cpu` measures redirects of this service with both event
loops, of a plain Django view, and of nginx with ClickHouse's engine behind it, in turn. `bytes` counts backlogs.
"""

from __future__ import annotations

import argparse

from bench.click_cost import database, servers
from bench.harness import tools
from bench.harness.running import installation, site_of
from bench.harness.stack import service_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["cpu", "bytes"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="length of each round")
    parser.add_argument(
        "--rate", type=int, default=2_000, help="redirects per second; 0: as many as possible"
    )
    parser.add_argument("--clicks", type=int, default=200_000, help="on one link, and on as many links")
    parser.add_argument("--workers", type=int, default=1, help="redirect workers")
    options = parser.parse_args()
    tools.require("wrk", "nginx")
    layout = {"WEB_CONCURRENCY": str(options.workers), "TRUSTED_PROXIES": "127.0.0.1"}
    with service_folder() as folder, installation(folder, **layout) as service:
        if options.only in (None, "cpu"):
            servers.measure(service, folder, options)
        if options.only in (None, "bytes"):
            database.measure(site_of(service), options.clicks)


if __name__ == "__main__":
    main()
