"""Redirect and create rates of this checkout against another commit, measured in turn on the same machine.

Both run `manage.py serve` with a database of their own, one redirect worker and one API worker. In each round both are
measured right after each other, in alternating order, so that the ratio is valid even if the speed of the machine
drifts. Their drainers are stopped: counting the clicks of one would slow the other.

    python -m bench.compare COMMIT [--rounds N] [--seconds S] [--links N]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bench.harness.processes import pin, tree
from bench.harness.tools import require
from bench.load import wrk
from bench.load.visits import Visits

REPOSITORY = Path(__file__).parents[1]
START_SECONDS = 120
LIMITS = (
    "RATE_LIMIT_FREE",
    "RATE_LIMIT_PRO",
    "RATE_LIMIT_ENTERPRISE",
    "RATE_LIMIT_ANONYMOUS",
    "UNKNOWN_CODE_LIMIT",
)


class Side(NamedTuple):
    name: str
    port: int
    pid: int
    api_key: str
    visits: Visits


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A worktree of ``commit``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkout")
        subprocess.run(
            ["git", "worktree", "add", "--detach", "--quiet", path, commit], cwd=REPOSITORY, check=True
        )
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=REPOSITORY, check=True)


@contextmanager
def serving(name: str, checkout: Path, port: int, links: int) -> Iterator[Side]:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.chmod(0o755)
        environment = os.environ | dict.fromkeys(LIMITS, "0")
        environment |= {"VAR_DIR": str(base / "var"), "PORT": str(port), "LOG_LEVEL": "WARNING"}
        environment |= {"WEB_CONCURRENCY": "1", "API_CONCURRENCY": "1"}
        command = [sys.executable, "manage.py", "serve"]
        with (base / "output").open("wb") as output:
            process = subprocess.Popen(command, cwd=checkout, env=environment, stdout=output, stderr=output)
        try:
            _wait_until_ready(port, process)
            command = [
                sys.executable,
                "manage.py",
                "create_account",
                "bench@example.com",
                "--plan",
                "enterprise",
            ]
            created = subprocess.run(
                command, cwd=checkout, env=environment, check=True, capture_output=True, text=True
            )
            api_key = created.stdout.split()[-1]
            host = f"127.0.0.1:{port}"
            visits = Visits(
                base / "visits", [(f"/{code}", host) for code in _created_codes(port, api_key, links)]
            )
            for pid in tree(process.pid):
                if b"drain_clicks" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGSTOP)
            yield Side(name, port, process.pid, api_key, visits)
        finally:
            for pid in tree(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            process.terminate()
            process.wait()


def _wait_until_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz"):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The service on port {port} did not start.")
        time.sleep(0.1)


def _created_codes(port: int, api_key: str, count: int) -> list[str]:
    """The short codes of new links."""
    codes: list[str] = []
    while len(codes) < count:
        urls = [
            {"originalUrl": f"https://example.com/page/{n}"} for n in range(min(1000, count - len(codes)))
        ]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/urls/bulk",
            json.dumps({"urls": urls}).encode(),
            {"Content-Type": "application/json", "X-API-Key": api_key},
        )
        with urllib.request.urlopen(request) as response:  # noqa: S310 # a service of ours
            codes += re.findall(r'"shortCode":\s*"(\w+)"', response.read().decode())
    return codes


def redirect_rate(side: Side, seconds: int) -> float:
    """Random links over keep-alive connections. The web server has one core, wrk the others."""
    first, *others = wrk.ALL_CORES
    web = next(pid for pid in tree(side.pid) if b"gunicorn" in Path(f"/proc/{pid}/cmdline").read_bytes())
    pin(tree(web), [first])
    result = wrk.load(side.port, side.visits, seconds=seconds, cores=others or [first])
    return _rate(side, result)


def create_rate(side: Side, seconds: int) -> float:
    pin(tree(side.pid), wrk.ALL_CORES)
    results: list[wrk.LoadResult] = []
    with wrk.creating(side.port, side.api_key, results):
        time.sleep(seconds)
    return _rate(side, results[0])


def _rate(side: Side, result: wrk.LoadResult) -> float:
    if result.errors:
        raise RuntimeError(f"{side.name}: {result}")
    if not result.requests:
        raise RuntimeError(
            f"{side.name}: no request succeeded in {result.seconds:.1f} s. Try a higher --seconds."
        )
    return result.rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--links", type=int, default=10_000)
    options = parser.parse_args()
    require("wrk")
    # On SIGTERM, too, stop the services and remove the worktree.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        other = stack.enter_context(checked_out(options.commit))
        sides = [
            stack.enter_context(serving("this checkout", REPOSITORY, 18_101, options.links)),
            stack.enter_context(serving(options.commit, other, 18_102, options.links)),
        ]
        for name, measure in (("redirects", redirect_rate), ("creates", create_rate)):
            for side in sides:
                measure(side, options.seconds * 3)
            rates: list[list[float]] = [[], []]
            for number in range(options.rounds):
                for place in (0, 1) if number % 2 else (1, 0):
                    rates[place].append(measure(sides[place], options.seconds))
            ratios = sorted(own / baseline for own, baseline in zip(*rates, strict=True))
            print(
                f"{name}: {statistics.median(rates[0]):,.0f}/s against {statistics.median(rates[1]):,.0f}/s;",
                end=" ",
            )
            print(f"ratio min/median/max of {options.rounds} rounds:", end=" ")
            print(f"{ratios[0]:.3f} {statistics.median(ratios):.3f} {ratios[-1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
