"""python -m bench.domains [--links N] [--rounds N] [--seconds S] [--only deletion|dns]: see `bench/README.md`."""

from __future__ import annotations

import argparse

from bench.domains import measured
from bench.harness import tools
from bench.harness.stack import service_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=100_000, help="links of the domain to delete")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="length of each measurement")
    parser.add_argument("--only", choices=["deletion", "dns"])
    options = parser.parse_args()
    tools.require("wrk")
    with service_folder() as folder:
        measured.run(folder, options)


if __name__ == "__main__":
    main()
