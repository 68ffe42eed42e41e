"""Runs housekeeping once, optionally in a process with a wrong clock."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from testing.service.running import REPOSITORY

# Generous: the machine may be busy.
SECONDS = 300


def housekeeping_at(
    shift: str, environment: Mapping[str, str], *, faketime: str = "faketime"
) -> subprocess.CompletedProcess[str]:
    """``shift`` is an offset in faketime's syntax, such as ``+400d``. ``faketime`` is the path of the program."""
    return subprocess.run(
        [faketime, "-f", shift, *_ONCE],
        cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip


def housekeeping_once(environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _ONCE, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


_ONCE = (sys.executable, "manage.py", "housekeeping", "--once")
