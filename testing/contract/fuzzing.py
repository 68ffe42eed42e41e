"""Runs schemathesis, which generates requests from the API description and checks the responses of a service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from testing.service.running import REPOSITORY, Service

HOOKS = "testing.contract.fuzzing_hooks"
REFUSED = [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, "5xx"]
SERVER_ERROR = re.compile(r'"status_code":5')
EMAIL, PASSWORD = "somebody@example.com", "correct horse battery"


class Verdict(NamedTuple):
    cases: int
    failures: list[str]
    server_errors: int
    output: str


def fuzz(service: Service, folder: Path, *, examples: int, seed: int, paths: str = "") -> Verdict:
    """Send ``examples`` random requests per operation, in addition to the systematic ones.

    With ``paths``, a regular expression, test only the operations on these paths, and no sequences of operations.
    """
    path_filter = ("--include-path-regex", paths) if paths else ()
    phases = "examples,coverage,fuzzing" + ("" if paths else ",stateful")
    key, token = _credentials(service)
    # The key and the token belong to different accounts, because requests with the token replace its account's key.
    (folder / "schemathesis.toml").write_text(
        f'[auth.openapi.ApiKeyAuth]\napi_key = "{key}"\n[auth.openapi.bearerAuth]\nbearer = "{token}"\n'
        # Statuses for requests that are too long are rejections, too.
        f"[checks.negative_data_rejection]\nexpected-statuses = {[*REFUSED, 411, 413, 414]}\n"
    )
    report, events = folder / "report.json", folder / "events.ndjson"
    command = [
        *(Path(sys.prefix, "bin/schemathesis"), "--config-file", folder / "schemathesis.toml", "run"),
        *(f"{service.url}/api/schema", "--checks", "all", "--mode", "all"),
        *("--phases", phases, *path_filter, "--continue-on-failure"),
        # They would end the session of the token with which all other requests authenticate.
        *("--exclude-operation-id", "logout", "--exclude-operation-id", "endSession"),
        # In parallel threads, `ast.parse` of Python before 3.11.5 fails, and with it hypothesis (CPython's gh-106905).
        *("--max-examples", str(examples), "--seed", str(seed), "--workers", "1"),
        *("--generation-database", "none", "--suppress-health-check", "all", "--no-color"),
        *("--request-timeout", "60"),
        *("--report", "json,ndjson", "--report-json-path", report, "--report-ndjson-path", events),
    ]
    # schemathesis waits for the description for ten seconds, and a busy machine may need longer to make it.
    assert service.call("GET", "/api/schema").status == 200
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "SCHEMATHESIS_HOOKS": HOOKS}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    output = run.stdout + run.stderr
    assert report.exists(), output
    return _verdict(json.loads(report.read_text()), output, events)


def _credentials(service: Service) -> tuple[str, str]:
    service.manage("create_account", EMAIL, "--plan", "pro", "--password", PASSWORD).check_returncode()
    entered = service.call("POST", "/api/auth/login", {"email": EMAIL, "password": PASSWORD})
    return service.owner.api_key, entered.json()["token"]


def _verdict(report: dict[str, Any], output: str, events: Path) -> Verdict:
    failures = [f"{failure['title']}: {', '.join(failure['operations'])}" for failure in report["failures"]]
    failures += [str(error) for error in report["errors"]]
    if not report["complete"]:
        failures.append(f"It stopped early: {report['stop_reason']}")
    with events.open() as lines:
        server_errors = sum(len(SERVER_ERROR.findall(line)) for line in lines)
    return Verdict(report["test_cases"]["generated"], failures, server_errors, output)
