"""python -m bench.fastlane.loops [--count N] [--seed N]: random conversations through both event loops.

Compares what clients receive, the records of the journal, and what each loop keeps and defers. The exit status is 1 if
anything differs. Needs the compiled loop (`make accelerate`).
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile

import django

from bench.harness.results import record

COUNT = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": folder,
            "BASE_URL": "http://127.0.0.1:8000",
            "TRUSTED_PROXIES": "10.0.0.0/8",
            "CLICK_SYNC": "process",
        }
        django.setup()
        sys.exit(bool(_run(options.seed, options.count)))


def _run(seed: int, count: int) -> int:
    from fastlane.compiled.loading import load
    from testing.fastlane.conversations import conversations
    from testing.fastlane.loops import difference

    compiled, reason = load()
    if compiled is None:
        raise SystemExit(reason)
    print(f"The seed is {seed}.", flush=True)
    wrong = 0
    for number, conversation in enumerate(conversations(seed, count)):
        if mismatch := difference(compiled, conversation):
            wrong += 1
            print(f"{number}: {conversation!r}\n{mismatch}", flush=True)
    record("proof-loops", f"{count:,} conversations: {wrong} differences")
    print(f"{count:,} conversations, {wrong} with a difference")
    return wrong


if __name__ == "__main__":
    main()
