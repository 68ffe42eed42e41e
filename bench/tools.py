"""Debian's wrk and nginx, which are all that the benchmarks want from outside their own environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# Packages by the program that is in them.
PACKAGES = {"wrk": "wrk", "nginx": "nginx-light"}


def require(*programs: str) -> None:
    """Installs what is missing, saying so, where root runs this on Debian; says what to install elsewhere."""
    # nginx is where ordinary users do not look.
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
