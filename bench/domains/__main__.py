"""python -m bench.domains [--links N] [--rounds N] [--seconds S] [--only deletion|dns]: see `bench/README.md`."""

from __future__ import annotations

import argparse

from bench import tools
from bench.stack import home


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=100_000, help="of the domain that is deleted")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    parser.add_argument("--only", choices=["deletion", "dns"])
    given = parser.parse_args()
    tools.require("wrk")
    with home() as folder:
        # After the settings are known, which name the database.
        from bench.domains import measured  # noqa: PLC0415

        measured.run(folder, given)


if __name__ == "__main__":
    main()
