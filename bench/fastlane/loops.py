"""python -m bench.fastlane.loops [--count N] [--seed N] [--sanitize]: random conversations through both event loops.

Compares what clients receive, the records of the journal, and what the compiled and the Python event loop keep and
defer. The exit status is 1 if anything differs. Needs the compiled loop (`make accelerate`).

--sanitize: build the compiled loop once more, with AddressSanitizer and UndefinedBehaviorSanitizer, and use that.
They end the program at the first invalid access to memory. Needs gcc. Each conversation takes several times as long.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import django

from bench.harness.results import PROJECT_DIR, record

COUNT = 20_000
REPORTED = 1_000
# Without the frame pointer, the reports would lack callers. Checks that only warn would pass. Optimising would take
# longer than it saves: most of the time is Python's.
_SANITIZED = (
    "-g",
    "-O0",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)
_SANITIZER = {
    # Python frees little at its exit. A long quarantine costs more time than the conversations.
    "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # Python's own allocator would hide from the sanitizer where its objects end.
    "PYTHONMALLOC": "malloc",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000))
    parser.add_argument(
        "--sanitize", action="store_true", help="check every access of the compiled loop to memory"
    )
    parser.add_argument("--module", type=Path, help="use the compiled loop in this folder")
    options = parser.parse_args()
    if options.sanitize:
        sys.exit(_run_sanitized(options.seed, options.count))
    if options.module:
        import fastlane.compiled

        fastlane.compiled.__path__.insert(0, str(options.module))
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
            "VAR_DIR": folder,
            "BASE_URL": "http://127.0.0.1:8000",
            "TRUSTED_PROXIES": "10.0.0.0/8",
            "CLICK_SYNC": "process",
        }
        django.setup()
        wrong = _run(options.seed, options.count)
        if not options.module:
            record("proof-loops", f"{options.count:,} conversations: {wrong} differences")
        sys.exit(bool(wrong))


def _run_sanitized(seed: int, count: int) -> int:
    """Build the module and run this program with it. Returns the exit status."""
    os.environ["CC"] = "gcc"
    from fastlane.compiled.build import build

    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), *_SANITIZED)
        command = [
            sys.executable,
            "-m",
            "bench.fastlane.loops",
            "--seed",
            str(seed),
            "--count",
            str(count),
            "--module",
            folder,
        ]
        # The interpreter has no sanitizer of its own, so the library must be there before everything else.
        preloaded = {"LD_PRELOAD": f"{_runtime('libasan.so')} {_runtime('libubsan.so')}"}
        environment = os.environ | _SANITIZER | preloaded
        return subprocess.run(command, cwd=PROJECT_DIR, env=environment, check=False).returncode


def _runtime(library: str) -> str:
    command = ["gcc", f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _run(seed: int, count: int) -> int:
    from fastlane.compiled.event_loop import load
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
        if number % REPORTED == REPORTED - 1:
            print(f"{number + 1:,} conversations", flush=True)
    print(f"{count:,} conversations, {wrong} with a difference")
    return wrong


if __name__ == "__main__":
    main()
