"""Commands that check files of this repository."""

from __future__ import annotations

import subprocess

from testing.service.running import REPOSITORY


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
