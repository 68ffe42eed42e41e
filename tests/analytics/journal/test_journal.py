"""The system calls that make a segment durable, and reads of truncated and damaged segments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testing.programs import program, skip_or_fail
from testing.proof.damage import CLICKS, flips, segment_of, truncations
from testing.service.running import DEADLINE, REPOSITORY

pytestmark = pytest.mark.slow

APPENDS = """
import sys
from pathlib import Path
from django.conf import settings
settings.configure()
from analytics.journal.writer import Journal
journal = Journal(Path(sys.argv[1]), "strict", *map(Path, sys.argv[2:]))
for _ in range(2):
    journal.append(b"click")
print("answered", flush=True)
"""


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return segment_of(tmp_path)


def test_truncation_loses_only_the_truncated_record(whole: bytes, tmp_path: Path) -> None:
    assert truncations(whole, tmp_path) == []


def test_every_flipped_bit_is_detected_and_earlier_records_survive(whole: bytes, tmp_path: Path) -> None:
    assert flips(whole, tmp_path) == []


def test_segment_contains_the_appended_records(whole: bytes) -> None:
    assert CLICKS == 3
    assert len(whole) > 3 * 100


@pytest.mark.parametrize("has_mirror", [False, True], ids=["one folder", "two folders"])
def test_strict_append_syncs_the_directory_entry_before_it_returns(
    tmp_path: Path, *, has_mirror: bool
) -> None:
    strace = program("strace")
    if subprocess.run([strace, "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
        skip_or_fail("NO TRACING OF PROCESSES, which this machine forbids")
    trace, folders = tmp_path / "trace", [tmp_path / "clicks", tmp_path / "mirror"][: 1 + has_mirror]
    for folder in folders:
        folder.mkdir()
    subprocess.run(
        [
            *(strace, "-f", "-y", "-e", "trace=/^rename,fsync,fdatasync,write", "-o", trace),
            *(sys.executable, "-c", APPENDS, *folders),
        ],
        cwd=REPOSITORY, check=True, timeout=DEADLINE,
    )  # fmt: skip
    seen = []
    for line in trace.read_text().splitlines():
        call, _, rest = line.partition(" ")[2].strip().partition("(")
        call = "rename" if call.startswith("rename") else call
        for folder in folders:
            if str(folder) in rest:
                seen.append(f"{call} {'segment' if f'{folder}/' in rest else 'folder'} {folder.name}")
        if "answered" in rest:
            seen.append("answer")

    def of_each(*calls: str) -> list[str]:
        return [f"{call} {folder.name}" for folder in reversed(folders) for call in calls]

    assert seen == [
        *reversed(of_each("rename segment")),
        *of_each("write segment"), *of_each("fsync folder", "fdatasync segment"),
        *of_each("write segment"), *of_each("fdatasync segment"),
        "answer",
    ]  # fmt: skip
