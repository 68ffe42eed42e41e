"""Mistakes of an operator: signals without a meaning, and a low limit of open files."""

from __future__ import annotations

import signal
import sys

from bench.faults.result import Result
from testing.service.hosts import make_folder, started
from testing.service.running import Service, eventually

SIGNALS, OPEN_FILES = 20, 256


def signals_without_meaning() -> Result:
    problems = []
    with started() as service:
        code = service.create_link(service.owner.api_key)["shortCode"]
        eventually(lambda: len(service.accepting()) == 1)
        before = service.workers()
        for _ in range(SIGNALS):
            service.signal(signal.SIGUSR2)
            if (status := service.call("GET", f"/{code}").status) != 302:
                problems.append(f"a link returned {status}")
        if service.workers() != before:
            problems.append("the workers were replaced")
        if (status := service.stop()) != 0:
            problems.append(f"the service exited with {status}")
        if survivors := service.processes():
            problems.append(f"{len(survivors)} processes still run")
    return Result(f"{SIGNALS} times SIGUSR2 to the supervisor", problems)


def few_open_files() -> Result:
    problems = []
    service = Service(make_folder())
    try:
        limit = f"--nofile={OPEN_FILES}:{OPEN_FILES}"
        service.launch("prlimit", limit, sys.executable, "manage.py", "serve")
        if (status := service.exit_code()) != 1:
            problems.append(f"the service exited with {status}")
        if f"The limit of open files is {OPEN_FILES}" not in service.stderr:
            problems.append("the error does not name the limit")
        if "Traceback" in service.stderr:
            problems.append("the service printed a traceback")
    finally:
        service.end()
    return Result(f"started once with {OPEN_FILES} file descriptors: refused at the start", problems)
