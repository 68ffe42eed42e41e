"""Proves on real processes, fault by fault, that every redirect is counted exactly once.

Prints one line per fault. The exit status is 1 if any click was lost or counted twice. See `bench/README.md`.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness.results import record
from local_postgres import EmbeddedPostgres
from testing.proof.faults import every_fault
from testing.proof.site import Site
from testing.service.limits import LIMITS_OFF


def main() -> None:
    options = _options()
    # On SIGTERM, too, stop the servers and remove the folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"Seed {options.seed}", flush=True)
    started, verdicts = time.monotonic(), []
    with _temporary_site() as (folder, url, secret):
        # Django's settings, which the following modules read, read these variables.
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": str(folder),
            "DATABASE_URL": url,
            "SECRET_KEY": secret,
            **LIMITS_OFF,
        }
        import testing.proof.preload  # noqa: F401 # its import sets up Django

        for verdict in every_fault(Site(folder, url, secret), options):
            print(verdict, flush=True)
            verdicts.append(verdict)
    violated = sum(bool(verdict.problems) for verdict in verdicts)
    print(f"{violated} faults with violations. {time.monotonic() - started:.0f} s")
    lost, twice, redirected = (
        sum(getattr(verdict, name) for verdict in verdicts) for name in ("lost", "twice", "redirected")
    )
    figure = (
        f"{lost} lost and {twice} counted twice of {redirected:,} clicks under {len(verdicts)} kinds of fault"
    )
    record("proof-kills", figure)
    sys.exit(1 if violated else 0)


def _options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    for name, repeats, maximum in (
        ("workers-kills", 300, 10_000),
        ("drainer-kills", 300, 10_000),
        ("all-kills", 100, 1_000),
        ("point-kills", 25, 1_000),
        ("starts", 50, 1_000),
        ("receiver-kills", 60, 1_000),
        ("cuts", 100, 1_000),
        ("outage-seconds", 60, 3_600),
        ("disk-faults", 50, 1_000),
        ("flips", 50, 1_000),
        ("restores", 20, 1_000),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=repeats, choices=range(maximum + 1), metavar=f"0..{maximum}"
        )
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    return parser.parse_args()


@contextmanager
def _temporary_site() -> Iterator[tuple[Path, str, str]]:
    """A folder, a database and a secret for the faults that need no web server."""
    with tempfile.TemporaryDirectory(prefix="shortener-proof-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # A server that drops privileges must reach its data.
        with EmbeddedPostgres(folder).acquire():
            yield folder, EmbeddedPostgres(folder).url, secrets.token_urlsafe(50)


if __name__ == "__main__":
    main()
