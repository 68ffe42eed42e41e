"""Programs that some tests need. Without a program, its tests are skipped with a message; with CI=true, they fail."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

# Debian's package for each program.
PACKAGES = {
    "bwrap": "bubblewrap",
    "caddy": "caddy",
    "chromium": "chromium",
    "curl": "curl",
    "etcd": "etcd-server",
    "etcdctl": "etcd-client",
    "faketime": "faketime",
    "firefox-esr": "firefox-esr",
    "haproxy": "haproxy",
    "ip": "iproute2",
    "nft": "nftables",
    "pgbouncer": "pgbouncer",
    "promtool": "prometheus",
    "strace": "strace",
    "systemd-analyze": "systemd",
    "varnishd": "varnish",
}
# The virtual environment comes first. Debian installs servers in /usr/sbin, which is only in root's PATH.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])


def program(name: str) -> str:
    path = shutil.which(name, path=PATH)
    if path is None:
        package = PACKAGES.get(name)
        skip_or_fail(f"NO {name.upper()}{f' (apt-get install {package})' if package else ''}")
    return path


def skip_or_fail(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must run every test, but: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")
