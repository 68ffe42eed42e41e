"""The npm packages of ``tests/contract/npm``, which ``make`` installs in the virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from testing.programs import skip_or_fail

NODE_MODULES = Path(sys.prefix, "npm/node_modules")


def node_modules() -> Path:
    if not NODE_MODULES.exists():
        skip_or_fail("NO NODE MODULES (make installs them from the npm registry)")
    return NODE_MODULES


def node(
    script: str | Path, *arguments: str | Path, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script with the virtual environment's Node.js, not with one of this machine."""
    command = [Path(sys.prefix, "bin/node"), script, *arguments]
    # Disable telemetry and update checks.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
        **variables,
    }
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
