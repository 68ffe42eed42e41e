"""python -m bench.failover [--faults N] [--seed N]: a cluster of five hosts, and what its faults cost.

Runs the files of deploy/ha in network namespaces (root only): etcd and PostgreSQL under Patroni on three hosts, the
service on two, HAProxy in front. Under the load of clients that know the truth, it breaks one or two things at a time.
Prints a line for each fault: the longest pause of writes, of reports and of redirects of known links. The exit status
is 1 if an acknowledged write or a click is missing, a click counts twice, a cap is exceeded, a revoked key is let in,
a destination is older than documents allow, two servers accept writes, a history is not linearizable, or nothing has
tried one of these. Clicks may be lost, and are counted apart, where the journal's disk is full while the database is
dead.
"""

from __future__ import annotations

import secrets
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import Random

from testing.failover import isolation


def main() -> None:
    options = _options()
    if reason := isolation.why_none():
        sys.exit(f"NOT PROVEN: {reason}.")
    isolation.enter(
        "bench.failover", [*sys.argv[1:], *([] if "--seed" in sys.argv else [f"--seed={options.seed}"])]
    )
    # Only in the namespaces, and after the check: what follows needs packages of the development environment.
    from bench.failover.steps import prove

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()
    findings = prove(options.faults, Random(options.seed), options)
    for line in findings.lines:
        print(line)
    for problem in findings.problems:
        print(f"VIOLATION: {problem}")
    for what in findings.unproven:
        print(f"NOT PROVEN: there was {what}")
    print(f"{len(findings.problems)} violations. {time.monotonic() - started:.0f} s. Seed {options.seed}.")
    sys.exit(1 if findings.problems or findings.unproven else 0)


def _options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=100, help="how many; the two of a pair count as two")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="FAULT", help="these alone, in this order; A+B are a pair"
    )
    parser.add_argument("--singles", action="store_true", help="no pairs")
    parser.add_argument(
        "--pace", type=float, default=1, help="requests of the load, as a multiple of about 90 a second"
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="write what operators see of each fault")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the logs of all programs there")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    return parser.parse_args()


if __name__ == "__main__":
    main()
