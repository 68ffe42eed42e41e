"""What tests need and not every machine has. Without it they are skipped and say so; where CI=true, they fail."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

# Debian's packages by the program that is in them.
PACKAGES = {
    "bwrap": "bubblewrap",
    "caddy": "caddy",
    "chromium": "chromium",
    "haproxy": "haproxy",
    "pgbouncer": "pgbouncer",
    "promtool": "prometheus",
    "strace": "strace",
    "systemd-analyze": "systemd",
    "varnishd": "varnish",
}
# The environment that runs the tests comes first; Debian's servers lie where only root's PATH leads.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])


def program(name: str) -> str:
    found = shutil.which(name, path=PATH)
    if found is None:
        package = PACKAGES.get(name)
        do_without(f"NO {name.upper()}{f' (apt-get install {package})' if package else ''}")
    return found


def do_without(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI tests everything, but: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")
