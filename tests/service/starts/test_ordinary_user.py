from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from testing.service import processes
from testing.service.hosts import make_folder
from testing.service.running import REPOSITORY, Service

pytestmark = pytest.mark.slow


def interpreters() -> Iterator[tuple[str, str]]:
    """Interpreters with the packages: this one, or the system's if another account cannot run this one."""
    yield sys.executable, ""
    packages = os.pathsep.join(path for path in sys.path if Path(path).name == "site-packages")
    yield f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}", packages


def usable_interpreter(account: int) -> tuple[str, str] | None:
    for python, path in interpreters():
        with suppress(OSError):
            done = subprocess.run(
                [python, "-c", "import django, gunicorn, psycopg"],
                cwd=REPOSITORY,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": path},
                user=account,
                group=account,
                extra_groups=[],
                capture_output=True,
                check=False,
            )
            if done.returncode == 0:
                return python, path
    return None


@pytest.fixture
def service() -> Iterator[Service]:
    """An installation of the account `nobody`."""
    if os.geteuid() != 0:
        pytest.skip(
            "NOT TESTED: only root can become somebody else. (You are an ordinary user, so all tests were.)"
        )
    try:
        account = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        pytest.skip("NOT TESTED: there is no account `nobody` on this machine.")
    usable = usable_interpreter(account)
    if usable is None:
        pytest.skip("NOT TESTED: `nobody` cannot read this repository, its packages or any fitting Python.")
    python, path = usable
    service = Service(make_folder(), python=[python], account=account, PYTHONPATH=path)
    service.var_dir.mkdir()
    os.chown(service.var_dir, account, -1)
    try:
        yield service
    finally:
        service.end()


def owners(pids: list[int]) -> set[int]:
    """The accounts of these processes, except of those that have ended."""
    accounts = set()
    for pid in pids:
        with suppress(FileNotFoundError):
            accounts.add(Path(f"/proc/{pid}").stat().st_uid)
    return accounts


def test_an_ordinary_user_runs_the_whole_service_and_stops_it(service: Service) -> None:
    service.start()
    postmaster = service.postmaster()
    assert postmaster is not None
    everything = [service.process.pid, *processes.descendants(service.process.pid), postmaster]
    assert owners(everything) == {pwd.getpwnam("nobody").pw_uid}
    link = service.create_link(service.owner.api_key)
    assert service.call("GET", f"/{link['shortCode']}").status == 302
    assert service.stop() == 0
    assert not any(map(processes.is_alive, everything))
