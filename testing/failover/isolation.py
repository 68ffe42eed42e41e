"""Namespaces of the kernel for a whole run: nothing of it is seen outside, and nothing of it survives its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence

_INSIDE = "FAILOVER_NAMESPACES"
_PROGRAMS = ("curl", "etcd", "etcdctl", "haproxy", "ip", "nft", "nsenter", "setpriv", "tc", "unshare")
PACKAGES = "curl etcd-client etcd-server haproxy iproute2 nftables util-linux"
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])


def why_none() -> str | None:
    """Why this process cannot run the installation, if that is so."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if missing := [name for name in _PROGRAMS if shutil.which(name, path=PATH) is None]:
        return f"no {', '.join(missing)} (apt-get install {PACKAGES})"
    probe = [
        "unshare",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "sh",
        "-c",
        "ip link add type veth && nft list tables",
    ]
    if subprocess.run(probe, check=False, capture_output=True, env={"PATH": PATH}).returncode != 0:
        return "the kernel lacks network namespaces, virtual links or nftables"
    return None


def enter(module: str, arguments: Sequence[str]) -> None:
    """Run the module again in namespaces of its own and exit with its status. Inside them, return.

    Its processes, links and mounts end with it, however it ends.
    """
    match os.environ.get(_INSIDE):
        case None:
            os.environ |= {_INSIDE: "init", "PATH": PATH}
            command = [
                "unshare",
                "--net",
                "--mount",
                "--propagation",
                "private",
                "--pid",
                "--fork",
                "--mount-proc",
            ]
            command += ["--kill-child", sys.executable, "-m", module, *arguments]
            os.execvp(command[0], command)  # noqa: S606 # its words are ours
        case "init":
            os.environ[_INSIDE] = "run"
            run = subprocess.Popen([sys.executable, "-m", module, *arguments])
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda number, _: run.send_signal(number))
            sys.exit(_reap(run.pid))


def _reap(child: int) -> int:
    """The exit status of the child. As the first process here, this one inherits those whose parents have died."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status) & 0xFF
