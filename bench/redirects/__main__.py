"""python -m bench.redirects [--rounds N] [--seconds S] [--links N] [--only rounds|paced] [--workers 1|2]
    [--layouts]

Redirects against nginx and a plain Django view, with one worker and with two. See `bench/README.md`.
"""

from __future__ import annotations

import argparse
import time

from bench import tools
from bench.stack import home


def main() -> None:
    given = _arguments()
    tools.require("wrk", "nginx")
    started = time.monotonic()
    with home() as folder:
        # After the settings are known, which name the database.
        from bench.redirects import comparison  # noqa: PLC0415

        comparison.run(folder, given)
    print(f"\n{time.monotonic() - started:.0f} s")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1, help="of each measurement")
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="one after the other")
    parser.add_argument("--only", choices=["rounds", "paced"])
    parser.add_argument(
        "--layouts", action="store_true", help="shared workers against the API's own, instead"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
