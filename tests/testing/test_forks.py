"""A fork acts like a new process of manage.py."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testing.service import forks, processes
from testing.service.hosts import SECRET_KEY
from testing.service.running import DEADLINE, REPOSITORY, eventually

# Nothing listens there, and `serve` waits for it.
NO_DATABASE = "postgres://nobody@127.0.0.1:1/none"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": NO_DATABASE,
        "SECRET_KEY": SECRET_KEY,
    }


@pytest.mark.parametrize("arguments", [["help", "serve"], ["backup", "/nowhere/file"], ["nothing"]])
def test_its_output_and_its_exit_status_are_those_of_a_new_process(
    arguments: list[str], environment: dict[str, str]
) -> None:
    process = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    fork = forks.run(arguments, environment, DEADLINE)

    assert (fork.returncode, fork.stdout, fork.stderr) == (
        process.returncode, process.stdout, process.stderr
    )  # fmt: skip


def test_others_see_its_arguments_its_environment_its_folder_and_its_session(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with (tmp_path / "output").open("wb") as output:
        fork = forks.fork(["serve"], environment, output.fileno(), output.fileno())
    try:
        assert list(filter(None, processes.command_line(fork.pid))) == [
            *(sys.executable.encode(), b"manage.py", b"serve")
        ]
        shown = {f"{name}={value}".encode() for name, value in environment.items()}
        assert shown <= set(processes.environment(fork.pid))
        assert Path(f"/proc/{fork.pid}/cwd").readlink() == REPOSITORY
        assert os.getsid(fork.pid) == fork.pid
        assert fork.pid in processes.children(os.getpid())
    finally:
        fork.send_signal(signal.SIGKILL)
    assert fork.wait(DEADLINE) == -signal.SIGKILL


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_like_a_new_process(
    number: int, status: int, environment: dict[str, str], tmp_path: Path
) -> None:
    metrics = tmp_path / "metrics"
    variables = {**environment, "PROMETHEUS_MULTIPROC_DIR": str(metrics)}
    with (tmp_path / "output").open("wb") as output:
        fork = forks.fork(["serve"], variables, output.fileno(), output.fileno())
    # By then, it handles signals.
    eventually(metrics.exists)
    fork.send_signal(number)
    assert fork.wait(DEADLINE) == status


@pytest.mark.parametrize("name", ["PYTHONPATH", "LD_PRELOAD", "LANG"])
def test_a_variable_that_an_interpreter_reads_at_its_start_needs_a_new_process(
    name: str, environment: dict[str, str]
) -> None:
    assert forks.can_fork(environment)
    assert not forks.can_fork({**environment, name: ""})
