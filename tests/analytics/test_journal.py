"""What the disk is told of a segment, and what a reader makes of one that was cut off or damaged, wherever it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.proof.damage import CLICKS, flips, segment_of, truncations
from tests.programs import do_without, program
from tests.service.running import DEADLINE, REPOSITORY

APPENDS = """
import sys
from pathlib import Path
from django.conf import settings
settings.configure()
from analytics.journal import Journal
journal = Journal(Path(sys.argv[1]), "strict")
for _ in range(2):
    journal.append(b"click")
print("answered", flush=True)
"""


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return segment_of(tmp_path)


def test_only_the_record_that_was_cut_off_is_missing(whole: bytes, tmp_path: Path) -> None:
    assert truncations(whole, tmp_path) == []


def test_every_flipped_bit_is_detected_and_nothing_before_it_is_lost(whole: bytes, tmp_path: Path) -> None:
    assert flips(whole, tmp_path) == []


def test_a_segment_holds_what_was_appended(whole: bytes) -> None:
    assert CLICKS == 3
    assert len(whole) > 3 * 100


def test_before_a_strict_append_returns_the_disk_knows_the_segment_by_its_name(tmp_path: Path) -> None:
    strace = program("strace")
    if subprocess.run([strace, "-o", "/dev/null", "true"], check=False, capture_output=True).returncode:
        do_without("NO TRACING OF PROCESSES, which this machine forbids")
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
