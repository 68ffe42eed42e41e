"""The files of deploy/ha, run as a cluster of five hosts in network namespaces while its leaders fail."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from testing.failover import isolation
from testing.programs import skip_or_fail
from testing.service.running import REPOSITORY

# Three steps of half a minute each, and as long for all else, on a machine that may be busy.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Of the pair, clicks are lost: only as many as the service reports.
FAULTS = ("leader-killed+journal-full", "switchover", "patroni-frozen")


def test_no_fault_of_a_leader_loses_what_was_acknowledged() -> None:
    """`make prove NAME=failover` with a few faults, alone and in a pair: its exit status is 0 without a violation."""
    if reason := isolation.why_none():
        skip_or_fail(f"NO CLUSTER ({reason})")
    command = [sys.executable, "-m", "bench.failover", "--pace", "0.5", "--only", *FAULTS]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "0 violations." in done.stdout
