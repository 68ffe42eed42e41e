"""The tools of ``tests/contract/npm``, which ``make`` installs beside the virtual environment's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.programs import do_without

NODE_MODULES = Path(sys.prefix, "npm/node_modules")


def node_modules() -> Path:
    if not NODE_MODULES.exists():
        do_without("NO NODE MODULES (make installs them, from a registry of npm)")
    return NODE_MODULES


def node(script: Path, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs it with the Node.js of the virtual environment, whatever another one on this machine can."""
    command = [Path(sys.prefix, "bin/node"), script, *arguments]
    # Tools that ask their makers for news, or tell them some, are told not to.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    }
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
