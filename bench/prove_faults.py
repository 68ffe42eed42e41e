"""python -m bench.prove_faults [FAULT …]: the effect of faults on visitors and clients, with real processes.

Prints one line per fault: the fault, the number of repeats, and the losses. The exit status is 1 if a promise was
broken.
"""

from __future__ import annotations

import argparse
import sys
import time

from bench.faults import FAULTS
from bench.harness.stack import service_folder


def main() -> None:
    with service_folder():
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument(
            "faults", nargs="*", metavar="FAULT", help=f"one of {', '.join(FAULTS)}; default: all"
        )
        names = parser.parse_args().faults or [*FAULTS]
        if unknown := {*names} - FAULTS.keys():
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
        broken = 0
        for name in names:
            started = time.monotonic()
            result = FAULTS[name]()
            broken += bool(result.problems)
            print(f"{name}: {result} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{broken} of {len(names)} faults broke a promise.")
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
