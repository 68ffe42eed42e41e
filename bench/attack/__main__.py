"""python -m bench.attack [NAME ...] [--short]: the service under every attack that this repository knows.

Each attack is a separate program that prints what it tried. A summary follows. The exit status is 1 if the service
failed to withstand an attack.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import NamedTuple


class Attack(NamedTuple):
    """Runs ``module`` with these arguments. Its exit status says whether the service withstood the attack."""

    module: str
    tries: str
    full: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


ATTACKS = {
    "slow-clients": Attack(
        "bench.slow_clients",
        "thousands of connections that send or read slowly, or not at all",
        short=("--clients", "200", "--seconds", "10"),
    ),
    "raw-requests": Attack(
        "bench.fastlane.raw_requests",
        "requests that no client sends, compared with stock gunicorn and through HAProxy",
        short=("--count", "1000"),
    ),
    "bodies": Attack(
        "bench.attack.bodies",
        "bodies and calls designed to be expensive",
        short=("--only", "zeros as", "650 errors", "empty rows", "keys", "log-ins"),
    ),
    "guesses": Attack(
        "bench.attack.guesses",
        "codes guessed beyond the limit, from one address and from many",
        short=("--requests", "400"),
    ),
    "capped-links": Attack(
        "bench.attack.capped_links", "the destination of a link with few clicks, requested in every way"
    ),
    "lock-out": Attack(
        "bench.attack.lock_out", "wrong passwords from a hundred networks, then the owner's correct one"
    ),
    "starvation": Attack(
        "bench.attack.starvation",
        "right passwords and images without pause, while others log in and load an image",
    ),
    "evasion": Attack("bench.attack.evasion", "workspaces made and deleted for their quotas and rates"),
}
if find_spec("bench.fastlane") is None:
    del ATTACKS["raw-requests"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *ATTACKS], metavar="NAME", help=", ".join(ATTACKS))
    parser.add_argument(
        "--short", action="store_true", help="a run of a few minutes, to check that everything works"
    )
    options = parser.parse_args()
    results = []
    for name in options.names or ATTACKS:
        attack = ATTACKS[name]
        print(f"\n== {name}: {attack.tries}", flush=True)
        started = time.monotonic()
        command = [sys.executable, "-m", attack.module, *(attack.short if options.short else attack.full)]
        held = subprocess.run(command, check=False).returncode == 0
        results.append((name, held, time.monotonic() - started))
    print("\nAttacks, and whether the service withstood them:")
    for name, held, seconds in results:
        print(f"  {name:16} {'held' if held else 'DID NOT HOLD':14} {seconds:5.0f} s")
    sys.exit(not all(held for _, held, _ in results))


if __name__ == "__main__":
    main()
