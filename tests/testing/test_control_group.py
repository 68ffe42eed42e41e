"""The control group that limits the memory of a small host."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.service.control_group import memory_limited

LIMIT_MIB = 32


def test_a_process_beyond_the_limit_is_killed_and_counted() -> None:
    with memory_limited(LIMIT_MIB) as group:
        if group is None:
            pytest.skip("NOT TESTED: this account cannot limit the memory of a control group on this machine")
        python = group.entered_by(sys.executable)
        exits, killed = [], []
        for mib in (1, 2 * LIMIT_MIB):
            program = f"bytearray({mib * 1024 * 1024})"
            exits.append(subprocess.run([*python, "-S", "-c", program], check=False).returncode)
            killed.append(group.killed())

    assert (exits, killed) == ([0, -9], [0, 1])
    assert not group.folder.exists()
