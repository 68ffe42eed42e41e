"""python -m bench.schemathesis [--examples N] [--seed N] [--paths REGEX]: requests generated from the API description.

Runs the whole service on a separate database with every check of schemathesis, including sequences of requests. The
exit status is 1 if a response is a 5xx or does not match the description.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

import django

from bench.harness.results import record
from testing.contract.fuzzing import fuzz
from testing.service.hosts import make_folder
from testing.service.running import Service

EXAMPLES = 2_300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="random examples for each operation")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument(
        "--paths", default="", help="only operations whose path matches this regular expression"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # For helpers shared with the tests; the service itself has other settings.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "VAR_DIR": folder}
        django.setup()
        sys.exit(_run(Path(folder), options.examples, options.seed, options.paths))


def _run(folder: Path, examples: int, seed: int, paths: str) -> bool:
    service = Service(make_folder())
    try:
        service.start()
        started = time.monotonic()
        verdict = fuzz(service, folder, examples=examples, seed=seed, paths=paths)
        seconds = time.monotonic() - started
    finally:
        service.end()
    if verdict.failures:
        print(verdict.output)
    print(
        f"{verdict.cases:,} cases in {seconds:.0f} s with the seed {seed}: {len(verdict.failures)} failures, "
        f"{verdict.server_errors} times 5xx"
    )
    record(
        "proof-api",
        f"{verdict.cases:,} requests: {len(verdict.failures)} failures, {verdict.server_errors} 5xx",
    )
    return bool(verdict.failures or verdict.server_errors)


if __name__ == "__main__":
    main()
