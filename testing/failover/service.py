"""A host of the service, and the proxy in front of all of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

from testing.failover.client import Client
from testing.failover.database import KIT
from testing.failover.network import Host, run
from testing.failover.units import Keeper, Unit, kill_all
from testing.service.limits import LIMITS_OFF

REPOSITORY = Path(__file__).parents[2]
SITE = "sho.test"
PORT, INTERNAL_PORT = 8000, 8001
JOURNAL_MB = 64
# The default of the setting.
STALE_SECONDS = 3600
_PRELOADED = REPOSITORY / "testing/service/preloaded"

# Retries only if the server has not received the request: a redirect that is sent twice is two clicks.
_PROXY = """
global
    maxconn 1000
defaults
    mode http
    timeout connect 1s
    timeout check 2s
    timeout client 75s
    timeout server 30s
    timeout http-request 10s
    option http-keep-alive
    option redispatch 1
    retries 2
    retry-on conn-failure
    default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
listen service
    bind {address}:{port}
    balance roundrobin
    option forwardfor
    option httpchk GET /healthz
    http-check expect status 200
    http-response set-header X-Served-By %s
{servers}
"""


class ServiceHost:
    def __init__(self, host: Host, folder: Path, settings: Mapping[str, str], **variables: str) -> None:
        """``settings`` are those of ha.env; ``variables`` of the service come in addition to the kit's."""
        self.host, self.name, self.folder = host, host.name, folder
        self.var_dir = folder / "var"
        self.journal = self.var_dir / "clicks"
        self._clock = folder / "clock"
        folder.mkdir()
        folder.chmod(0o755)
        self.journal.mkdir(parents=True, mode=0o700)
        run("mount", "-t", "tmpfs", "-o", f"size={JOURNAL_MB}m,mode=700", "journal", self.journal)
        self.environment = {
            **_kit_environment({**settings, "HOST": host.address}),
            "PATH": os.environ["PATH"],
            "VAR_DIR": str(self.var_dir),
            "PORT": str(PORT),
            "METRICS_ALLOWED_NETWORKS": "10.77.0.0/24",
            "BASE_URL": f"http://{SITE}",
            "REQUIRE_2FA": "none",
            "WEB_CONCURRENCY": "1",
            "API_CONCURRENCY": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # A killed service cannot remove its default metrics folder.
            "PROMETHEUS_MULTIPROC_DIR": str(self.var_dir / "metrics"),
            **LIMITS_OFF,
            **variables,
        }
        self.unit = Unit(
            "service",
            host,
            [sys.executable, "manage.py", "serve"],
            folder,
            environment=self.environment,
            cwd=REPOSITORY,
        )
        self.balancer = Unit("haproxy", host, _haproxy(folder, _kit_balancer()), folder, environment=settings)

    def enlist(self, keeper: Keeper) -> None:
        keeper.units += [self.balancer, self.unit]

    def kill(self, *, for_good: bool = False) -> None:
        self.unit.kill(for_good=for_good)
        kill_all(self.host, [pid for pid in self.host.pids() if pid != self.balancer.pid])

    def restart(self) -> None:
        self.unit.stop()
        self.unit.start()

    def set_clock(self, seconds: int) -> None:
        """From its next start on, be so many seconds ahead, or behind. Pauses keep their length."""
        self._clock.write_text(f"{seconds}\n")
        moved = {"PYTHONPATH": str(_PRELOADED), "MOVED_CLOCK": str(self._clock)}
        self.unit.environment = self.environment | (moved if seconds else {})

    def set_stale_seconds(self, seconds: int) -> None:
        """From its next start on."""
        changed = {"STALE_SECONDS": str(seconds)}
        self.environment |= changed
        self.unit.environment = {**self.unit.environment, **changed}

    def fill_journal(self) -> None:
        run("mount", "-o", f"remount,size={shutil.disk_usage(self.journal).used or 4096}", self.journal)

    def free_journal(self) -> None:
        run("mount", "-o", f"remount,size={JOURNAL_MB}m", self.journal)

    def client(self, seconds: float = 5) -> Client:
        return Client(self.host.address, PORT, seconds)

    def internal(self, path: str) -> tuple[int, str]:
        """The status and the body that the internal listener returns, or 0 and the reason for none.

        From the host itself, so that no cut is in between.
        """
        url = f"http://{self.host.address}:{INTERNAL_PORT}{path}"
        command = self.host.command("curl", "-s", "-m", "5", "-w", "\n%{http_code}", url)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        body, _, status = done.stdout.rpartition("\n")
        return int(status or 0), body

    def manage(self, *arguments: str, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py on this host."""
        return subprocess.run(
            self.host.command(sys.executable, "manage.py", *arguments),
            cwd=REPOSITORY,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )

    @property
    def owner(self) -> tuple[str, str, str] | None:
        """E-mail address, password and API key of the first account, if this host has made it."""
        file = self.var_dir / "first_account.txt"
        if not file.exists():
            return None
        found = re.fullmatch(r"  e-mail    (\S+)\n  password  (\S+)\n  API key   (\S+)\n", file.read_text())
        assert found is not None
        return found[1], found[2], found[3]


def front_proxy(host: Host, folder: Path, services: list[ServiceHost]) -> Unit:
    servers = "\n".join(f"    server {one.name} {one.host.address}:{PORT}" for one in services)
    folder.mkdir()
    text = _PROXY.format(address=host.address, port=PORT, servers=servers)
    return Unit("proxy", host, _haproxy(folder, text), folder, environment={})


def _kit_environment(values: Mapping[str, str]) -> dict[str, str]:
    lines = Template((KIT / "shortener.env").read_text()).safe_substitute(values).splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _kit_balancer() -> str:
    return (KIT / "haproxy.cfg").read_text()


def _haproxy(folder: Path, text: str) -> list[str]:
    file = folder / "haproxy.cfg"
    file.write_text(text)
    return ["haproxy", "-db", "-q", "-f", str(file)]
