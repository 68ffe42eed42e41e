"""Lighthouse from npm, with headless Chromium and the emulation of a phone, which is its default."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.dashboard.causes import Result, causes, metrics
from bench.dashboard.site import CHROMIUM_ARGUMENTS
from bench.harness.stack import PROJECT_DIR

CATEGORIES = ("performance", "accessibility")
_PACKAGE = PROJECT_DIR / "bench/dashboard/npm"
_FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *CHROMIUM_ARGUMENTS]
# A report that somebody looks at sends requests for ever, so Lighthouse would wait for its default of 45 seconds.
_MAX_WAIT_MS = 12_000


def install() -> Path:
    """Install the locked packages beside those of the tests. Returns Lighthouse's program."""
    folder = Path(sys.prefix, "lighthouse")
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_bytes((_PACKAGE / name).read_bytes())
    npm = [str(Path(sys.prefix, "bin/npm")), "ci", "--prefix", str(folder)]
    subprocess.run([*npm, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], check=True)
    return folder / "node_modules/lighthouse/cli/index.js"


def scores(program: Path, url: str, cookie: str, chromium: str, runs: int) -> dict[str, int]:
    """The median score of each category, 0 to 100. Prints every run, and what lowered the lowest performance."""
    results = [_run(program, url, cookie, chromium) for _ in range(runs)]
    for result in results:
        print(f"    {_score(result, 'performance'):.0f}: {metrics(result)}")
        _print_failed(result)
    worst = min(results, key=lambda result: _score(result, "performance"))
    print("    what lowered the lowest:", *causes(worst), sep="\n        ")
    return {
        category: round(statistics.median(_score(result, category) for result in results))
        for category in CATEGORIES
    }


def _score(result: Result, category: str) -> float:
    return 100 * float(result["categories"][category]["score"])


def _print_failed(result: Result) -> None:
    for category in CATEGORIES:
        for reference in result["categories"][category]["auditRefs"]:
            audit = result["audits"][reference["id"]]
            if reference["weight"] and audit["score"] is not None and audit["score"] < 0.9:
                print(f"        {category}: {audit['title']}: {audit.get('displayValue', audit['score'])}")


def _quoted(flag: str) -> str:
    name, separator, value = flag.partition("=")
    return f'{name}{separator}"{value}"' if " " in value else flag


def _run(program: Path, url: str, cookie: str, chromium: str) -> Result:
    with tempfile.TemporaryDirectory(prefix="shortener-lighthouse-") as name:
        report = Path(name, "report.json")
        headers = Path(name, "headers.json")
        headers.write_text(json.dumps({"Cookie": cookie}))
        command = [
            *(str(Path(sys.prefix, "bin/node")), str(program), url, "--quiet", "--output=json"),
            *(f"--output-path={report}", f"--only-categories={','.join(CATEGORIES)}"),
            *(f"--extra-headers={headers}", f"--max-wait-for-load={_MAX_WAIT_MS}"),
            *(f"--chrome-flags={' '.join(map(_quoted, _FLAGS))}", "--no-enable-error-reporting"),
        ]
        subprocess.run(command, env=os.environ | {"CHROME_PATH": chromium}, check=True)
        result: Result = json.loads(report.read_text())
    if result.get("runtimeError"):
        raise SystemExit(f"Lighthouse: {result['runtimeError']['message']}")
    return result
