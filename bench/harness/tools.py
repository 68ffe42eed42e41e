"""Programs and packages that benchmarks and proofs need besides their Python environment."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "var" / "bench"

# The Debian package of each program.
PACKAGES = {"wrk": "wrk", "nginx": "nginx-light", "faketime": "faketime"}


def require(*programs: str) -> None:
    """Install missing programs if this is root on Debian; otherwise exit with the command to install them."""
    # nginx is in a folder that is not in the PATH of ordinary users.
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    missing = [PACKAGES[program] for program in programs if shutil.which(program) is None]
    if not missing:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit(f"Missing: {' and '.join(missing)}. Install them first: apt-get install {' '.join(missing)}")
    print(f"Installing Debian's {' and '.join(missing)}, which stay on this machine ...", flush=True)
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *missing]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(install, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
        subprocess.run(["apt-get", "update", "--quiet"], stdout=subprocess.DEVNULL, check=True)
        subprocess.run(install, env=environment, stdout=subprocess.DEVNULL, check=True)


def environment(requirements: Path) -> Path:
    """The interpreter of an environment with these packages, which the first call installs without dependencies."""
    content = requirements.read_bytes()
    folder = FOLDER / hashlib.sha256(content).hexdigest()[:16]
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        print(f"Installing the packages of {requirements.name} into {folder} ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "--requirement",
            requirements,
        ]
        subprocess.run(install, check=True)
        complete.touch()
    return python
