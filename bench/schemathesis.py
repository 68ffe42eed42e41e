"""python -m bench.schemathesis [--examples N] [--seed N] [--paths REGEX]: requests made up out of the description.

The whole service on a database of its own, every check of schemathesis, sequences of requests included. The exit
status is 1 if an answer was not as described, or was a 5xx.
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

EXAMPLES = 2_300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="for each operation, by chance")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument("--paths", default="", help="only of operations at these, a regular expression")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # For what is shared with the tests; the service has settings of its own.
        os.environ |= {"DJANGO_SETTINGS_MODULE": "shortener_project.settings", "VAR_DIR": folder}
        django.setup()
        sys.exit(_run(Path(folder), given.examples, given.seed, given.paths))


def _run(folder: Path, examples: int, seed: int, paths: str) -> bool:
    from tests.contract.fuzzing import fuzz  # noqa: PLC0415
    from tests.service.hosts import make_folder  # noqa: PLC0415
    from tests.service.running import Service  # noqa: PLC0415

    service = Service(make_folder())
    try:
        service.start()
        started = time.monotonic()
        verdict = fuzz(service, folder, examples=examples, seed=seed, workers=2, paths=paths)
        seconds = time.monotonic() - started
    finally:
        service.end()
    if verdict.failures:
        print(verdict.output)
    print(
        f"{verdict.cases:,} cases in {seconds:.0f} s with the seed {seed}: {len(verdict.failures)} failures, "
        f"{verdict.server_errors} times 5xx"
    )
    return bool(verdict.failures or verdict.server_errors)


if __name__ == "__main__":
    main()
