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
journal = Journal(Path(sys.argv[1]), "strict")
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


def test_strict_append_syncs_the_directory_entry_before_it_returns(tmp_path: Path) -> None:
    strace = program("strace")
    if subprocess.run([strace, "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
        skip_or_fail("NO TRACING OF PROCESSES, which this machine forbids")
    trace, clicks = tmp_path / "trace", tmp_path / "clicks"
    subprocess.run(
        [
            *(strace, "-f", "-y", "-e", "trace=/^rename,fsync,fdatasync,write", "-o", trace),
            *(sys.executable, "-c", APPENDS, clicks),
        ],
        cwd=REPOSITORY, check=True, timeout=DEADLINE,
    )  # fmt: skip
    [segment] = clicks.iterdir()
    seen = []
    for line in trace.read_text().splitlines():
        if str(clicks) in line or "answered" in line:
            call, _, rest = line.partition(" ")[2].strip().partition("(")
            call = "rename" if call.startswith("rename") else call
            seen.append(
                f"{call} {'segment' if segment.name in rest else 'folder' if 'clicks>' in rest else 'out'}"
            )
    assert seen == [
        "rename segment", "write segment", "fsync folder", "fdatasync segment",
        "write segment", "fdatasync segment", "write out",
    ]  # fmt: skip
