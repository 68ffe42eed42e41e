"""The service sizes itself for the memory of the machine or of its control group."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local_postgres.sizing import MB, available_mb, settings_for
from shortener_project.configuration import variables

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MB
UNLIMITED_V1 = "9223372036854771712"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("membership", "limits", "expected"),
    [
        pytest.param("0::/", {"memory.max": 96 * MB}, 96, id="a container, version 2"),
        pytest.param("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": 80 * MB}, 80, id="a group above"),
        pytest.param("0::/a", {"a/memory.max": "max"}, MACHINE, id="no limit, version 2"),
        pytest.param("4:memory:/a", {"memory/a/memory.limit_in_bytes": 64 * MB}, 64, id="version 1"),
        pytest.param(
            "4:memory:/docker/c0ffee", {"memory/memory.limit_in_bytes": 48 * MB}, 48, id="the host's path"
        ),
        pytest.param(
            "1:cpu:/a\n4:memory:/a",
            {"memory/a/memory.limit_in_bytes": UNLIMITED_V1, "cpu/a/memory.limit_in_bytes": MB},
            MACHINE,
            id="no limit, version 1",
        ),
        pytest.param("0::/", {}, MACHINE, id="no control groups"),
    ],
)
def test_the_memory_is_the_lowest_limit(
    tmp_path: Path, membership: str, limits: dict[str, object], expected: int
) -> None:
    write(tmp_path / "cgroup", membership)
    for name, limit in limits.items():
        write(tmp_path / "mount" / name, str(limit))

    assert available_mb(tmp_path / "cgroup", tmp_path / "mount") == expected


def test_without_proc_the_memory_is_that_of_the_machine(tmp_path: Path) -> None:
    assert available_mb(tmp_path / "missing", tmp_path) == MACHINE


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (128, ("16MB", "1MB", "8MB", "1", "0")),
        (512, ("32MB", "1MB", "16MB", "1", "0")),
        (1024, ("64MB", "2MB", "32MB", "1", "0")),
        (1799, ("64MB", "3MB", "56MB", "1", "0")),
        pytest.param(1950, ("64MB", "4MB", "64MB", "3", "2"), id="a machine of 2 GB"),
        (2048, ("64MB", "4MB", "64MB", "3", "2")),
        (65536, ("64MB", "4MB", "64MB", "3", "2")),
    ],
)
def test_the_embedded_database_is_sized_by_memory(memory: int, expected: tuple[str, ...]) -> None:
    sized = settings_for(memory)
    names = (
        *("shared_buffers", "work_mem", "maintenance_work_mem", "autovacuum_max_workers"),
        "max_parallel_workers_per_gather",
    )
    assert tuple(sized[name] for name in names) == expected


@pytest.mark.parametrize(
    ("label", "memory"), [("256 MB", 256), ("512 MB", 512), ("1 GB", 1024), ("from 2 GB on", 2048)]
)
def test_the_documented_sizes_are_those_in_force(label: str, memory: int) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/deployment.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {label} |")]
    sized = settings_for(memory)
    expected = [
        *(
            sized[name].replace("MB", " MB")
            for name in ("shared_buffers", "work_mem", "maintenance_work_mem")
        ),
        *(sized[name] for name in ("autovacuum_max_workers", "max_parallel_workers_per_gather")),
    ]
    assert [cell.strip() for cell in row.strip("|").split("|")][1:-1] == expected


def sizes() -> tuple[int, int, int]:
    return (
        variables.WEB_CONCURRENCY.read(),
        variables.API_CONCURRENCY.read(),
        variables.DESTINATIONS_MB.read(),
    )


def test_a_small_host_has_one_worker_of_each_kind_and_small_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMALL", "yes")
    assert sizes() == (1, 1, min(MACHINE, variables.SMALL_MB) // 16)


def test_the_operator_can_override_the_sizes_of_a_small_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SMALL", "yes"), ("WEB_CONCURRENCY", "3"), ("API_CONCURRENCY", "0")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DESTINATIONS_MB", "100")
    assert sizes() == (3, 0, 100)
