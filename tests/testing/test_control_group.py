"""The control group that limits the memory of a small host."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.service.control_group import ControlGroup, memory_limited

LIMIT_MIB = 32


def required(group: ControlGroup | None) -> ControlGroup:
    if group is None:
        pytest.skip("NOT TESTED: this account cannot limit the memory of a control group on this machine")
    return group


def test_a_process_beyond_the_limit_is_killed_and_counted() -> None:
    with memory_limited(LIMIT_MIB) as limited:
        group = required(limited)
        python = group.entered_by(sys.executable)
        exits, killed = [], []
        for mib in (1, 2 * LIMIT_MIB):
            program = f"bytearray({mib * 1024 * 1024})"
            exits.append(subprocess.run([*python, "-S", "-c", program], check=False).returncode)
            killed.append(group.killed())

    assert (exits, killed) == ([0, -9], [0, 1])
    assert not group.folder.exists()


def test_the_end_of_a_group_kills_what_a_failed_test_leaves_in_it() -> None:
    with memory_limited(LIMIT_MIB) as limited:
        group = required(limited)
        command = [*group.entered_by("sh"), "-c", "echo entered; exec sleep 1000"]
        left = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert left.stdout is not None
        entered = left.stdout.readline()

    # Reads to the end of the output, so it waits for the process.
    assert (entered, left.communicate(), left.returncode) == (b"entered\n", (b"", None), -9)
    assert not group.folder.exists()
