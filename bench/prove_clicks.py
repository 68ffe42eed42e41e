"""A click that was answered is counted, once, whatever is killed: tried on real processes, fault by fault.

One line per fault; the exit status is 1 if the promise was broken once. See `bench/README.md`.
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

from shortener_project.embedded_postgres import EmbeddedPostgres
from tests.limits import LIMITS_OFF


def main() -> None:
    options = _options()
    # Servers end and folders go also when this is told to stop.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"Seed {options.seed}", flush=True)
    started, violated = time.monotonic(), 0
    with _site_of_its_own() as (folder, url, secret):
        # What follows reads Django's settings, which read these.
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": str(folder),
            "DATABASE_URL": url,
            "SECRET_KEY": secret,
            **LIMITS_OFF,
        }
        import bench.proof.preload  # noqa: F401, PLC0415
        from bench.proof.faults import every_fault  # noqa: PLC0415
        from bench.proof.site import Site  # noqa: PLC0415

        for verdict in every_fault(Site(folder, url, secret), options):
            print(verdict, flush=True)
            violated += bool(verdict.problems)
    print(f"{violated} faults broke the promise. {time.monotonic() - started:.0f} s")
    sys.exit(1 if violated else 0)


def _options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    for name, repeats, most in (
        ("workers-kills", 300, 10_000),
        ("drainer-kills", 300, 10_000),
        ("all-kills", 100, 1_000),
        ("point-kills", 25, 1_000),
        ("starts", 50, 1_000),
        ("cuts", 100, 1_000),
        ("outage-seconds", 60, 3_600),
        ("disk-faults", 50, 1_000),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=repeats, choices=range(most + 1), metavar=f"0..{most}"
        )
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    return parser.parse_args()


@contextmanager
def _site_of_its_own() -> Iterator[tuple[Path, str, str]]:
    """For the faults that need no web server."""
    with tempfile.TemporaryDirectory(prefix="shortener-proof-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # A server that drops privileges must reach its data.
        with EmbeddedPostgres(folder).acquire():
            yield folder, EmbeddedPostgres(folder).url, secrets.token_urlsafe(50)


if __name__ == "__main__":
    main()
