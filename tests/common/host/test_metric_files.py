"""How a process stores metrics is chosen when it starts, so each case runs its own process with children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.host.metric_files import ALLOCATED_BYTES, prepare, remove
from testing.polling import DEADLINE

PROJECT = Path(__file__).resolve().parents[3]

BEGINNING = """
import os, resource, signal, sys
from pathlib import Path
from prometheus_client.multiprocess import MultiProcessCollector
from common.host import metrics
from common.host.metric_files import clear

FOLDER = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])

def total(name="shortener_click_records_drained_total"):
    families = MultiProcessCollector(None, FOLDER).collect()
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)

def numbers():
    return sorted(int(path.stem) for path in FOLDER.glob("*.lock"))

def child(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    return pid

def wait(pid):
    return os.waitpid(pid, 0)[1]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    prepare(tmp_path / "metrics")
    return tmp_path / "metrics"


def run(folder: Path, script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + script],
        cwd=PROJECT,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_counts_of_concurrent_processes_are_exported_as_one_sum(folder: Path) -> None:
    script = """
    reader, writer = os.pipe()

    def work():
        for _ in range(1000):
            metrics.count_drained(1)
        os.write(writer, b".")
        signal.pause()

    children = [child(work) for _ in range(8)]
    metrics.count_drained(5)
    for _ in children:
        os.read(reader, 1)
    print(total(), numbers())
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        wait(pid)
    print(total())
    """
    assert run(folder, dedent(script)) == "8005.0 [0, 1, 2, 3, 4, 5, 6, 7, 8]\n8005.0"


@pytest.mark.slow
def test_recycled_and_killed_processes_leave_few_files_and_no_count_is_lost(
    folder: Path,
) -> None:
    script = """
    def work():
        metrics.count_drained(1)
        metrics.count_redirects("fast", "302", 10)
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(1000):
        assert wait(child(work)) == signal.SIGKILL
    print(total(), total("shortener_redirects_total"), numbers(), len(list(FOLDER.iterdir())))
    """
    assert run(folder, dedent(script)) == "1000.0 10000.0 [0, 1] 6"
    assert {path.name: path.stat().st_size for path in folder.glob("*_1.db")} == {
        f"{kind}_1.db": size for kind, size in ALLOCATED_BYTES.items()
    }


def test_a_restart_deletes_the_files_of_dead_processes_only(folder: Path) -> None:
    script = """
    metrics.count_drained(1)
    wait(child(lambda: metrics.count_drained(10)))
    print(total())
    clear(FOLDER)
    print(total(), numbers())
    metrics.count_drained(1)
    wait(child(lambda: metrics.count_drained(100)))
    print(total(), numbers())
    """
    assert run(folder, dedent(script)).splitlines() == ["11.0", "1.0 [0]", "102.0 [0, 1]"]
    remove(folder)
    assert not folder.exists()


def test_on_a_full_disk_only_counting_fails(folder: Path) -> None:
    script = """
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    def work():
        metrics.count_drained(10)
        metrics.observe_redirects("fast", [1] * 16, 1.0)

    print(wait(child(work)), total(), numbers())
    """
    assert run(folder, dedent(script)) == "0 0.0 [0, 1]"


def test_an_empty_file_of_one_process_hides_no_other_metric(folder: Path) -> None:
    """prometheus_client cannot read an empty file."""
    script = """
    metrics.count_drained(1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    print(wait(child(lambda: metrics.count_drained(10))), total())
    """
    assert run(folder, dedent(script)) == "0 1.0"


def test_a_process_that_starts_on_a_full_disk_counts_in_memory(tmp_path: Path) -> None:
    script = """
    metrics.count_drained(10)
    print(metrics.REGISTRY.get_sample_value("shortener_click_records_drained_total"))
    """
    assert run(tmp_path / "is not there", dedent(script)) == "10.0"


def test_a_folder_of_another_account_is_not_used(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root can give a folder away.")
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(PermissionError):
        prepare(tmp_path)


def dedent(script: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in script.splitlines())
