"""Whether the journal can be written, on real file systems and with real limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analytics.journal.writer import writing_error
from testing.service.journal_disk import why_none

PROGRAM = """
import sys
from pathlib import Path
from analytics.journal.writer import writing_error
print(writing_error(Path(sys.argv[1])).strerror)
"""
PROJECT = Path(__file__).resolve().parents[3]


def error_of(folder: Path, *prefix: str) -> str:
    """What `writing_error` finds in a process that this command starts."""
    command = [*prefix, sys.executable, "-c", PROGRAM, str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_writable_folder_has_no_error_and_stays_empty(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "clicks"
    assert writing_error(folder) is None
    assert list(folder.iterdir()) == []


def test_a_folder_without_permission_is_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    if os.geteuid() != 0:
        error = writing_error(tmp_path)
        assert error is not None
        assert error.strerror == "Permission denied"
        return
    # Root may write to it anyway, but not without this capability.
    assert error_of(tmp_path, "setpriv", "--bounding-set=-all", "--inh-caps=-all") == "Permission denied"


def test_a_limit_of_the_size_of_files_is_found(tmp_path: Path) -> None:
    assert error_of(tmp_path, "prlimit", "--fsize=0") == "File too large"


def test_a_folder_that_is_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    error = writing_error(tmp_path / "file" / "clicks")
    assert error is not None
    assert error.strerror == "Not a directory"


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        ("mount -o remount,ro tmpfs {}", "Read-only file system"),
        ("head -c 2M /dev/zero > {}/filler || true", "No space left on device"),
    ],
)
def test_an_unwritable_file_system_is_found(tmp_path: Path, prepare: str, expected: str) -> None:
    if reason := why_none():
        pytest.skip(f"NOT TESTED: {reason}.")
    script = f'mount -t tmpfs -o size=1m tmpfs {tmp_path} && {prepare.format(tmp_path)} && exec "$@"'
    assert error_of(tmp_path, "unshare", "--mount", "sh", "-c", script, "sh") == expected
