"""python -m bench.cold [--only misses restart zipf capped] [--rounds N] [--seconds S] [--links N]

Redirects of links that are not in memory. See `bench/README.md`.
"""

from __future__ import annotations

import argparse

from bench.harness import tools
from bench.harness.stack import service_folder

MEASUREMENTS = ("misses", "restart", "zipf", "capped")


def main() -> None:
    options = _options()
    tools.require("wrk")
    with service_folder() as folder:
        # This module reads the settings, which name the database.
        from bench.cold import measurements

        measurements.run(folder, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=MEASUREMENTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="length of each measurement")
    parser.add_argument("--links", type=int, default=100_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
