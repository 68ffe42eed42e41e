"""python -m bench.redirects [--rounds N] [--seconds S] [--links N] [--only rounds|loops|paced|rules|kinds]
    [--workers 1|2] [--layouts]

Compares redirects with nginx and a plain Django view, with one worker and with two. See `bench/README.md`.
"""

from __future__ import annotations

import argparse
import time

from bench.harness import tools
from bench.harness.stack import service_folder


def main() -> None:
    options = _arguments()
    tools.require("wrk", "nginx")
    started = time.monotonic()
    with service_folder() as folder:
        # This module reads the settings, which name the database.
        from bench.redirects import comparison

        comparison.run(folder, options)
    print(f"\n{time.monotonic() - started:.0f} s")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1, help="length of each measurement")
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--routed-links", type=int, default=1_000, help="links with rules and a split")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], help="worker counts to measure in turn"
    )
    parser.add_argument("--only", choices=["rounds", "loops", "paced", "rules", "kinds"])
    parser.add_argument(
        "--layouts", action="store_true", help="instead, compare shared workers with separate API workers"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
