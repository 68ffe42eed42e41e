"""compose.yaml works in any subnet: Caddy and the service share Unix sockets, and no address is trusted."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from testing.service import processes
from testing.service.caddy import Caddy, caddy_before
from testing.service.drainer import drainer_held
from testing.service.hosts import make_folder
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import REPOSITORY, eventually
from testing.service.unix_socket import SocketService
from testing.visitors.forgeries import records

pytestmark = pytest.mark.slow

SERVICES: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())["services"]
ENVIRONMENT: dict[str, str] = SERVICES["service"]["environment"]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
SITE = "sho.test"


class Installation(NamedTuple):
    service: SocketService
    caddy: Caddy


@pytest.fixture(scope="module")
def installation(caddy: str) -> Iterator[Installation]:
    """Run it with the settings of compose.yaml, and its sockets in another folder."""
    sockets = make_folder()
    service = SocketService(
        make_folder(),
        sockets,
        BASE_URL=f"https://{SITE}",
        TRUSTED_PROXIES=ENVIRONMENT["TRUSTED_PROXIES"],
        **LONG_TIMEOUTS,
    )
    try:
        service.start()
        with caddy_before(service, program=caddy) as proxy:
            yield Installation(service, proxy)
    finally:
        service.end()
        shutil.rmtree(sockets)


def test_compose_names_no_subnet_and_trusts_no_address() -> None:
    text = (REPOSITORY / "compose.yaml").read_text()
    assert set(re.findall(r"\d+\.\d+\.\d+\.\d+(?:/\d+)?", text)) == {"127.0.0.1/32"}
    assert not re.search(r"subnet|ipam|ipv[46]_address|network_mode", text)
    assert [ip_network(word).is_loopback for word in ENVIRONMENT["TRUSTED_PROXIES"].split(",")] == [True]


def test_only_caddy_shares_the_sockets_of_the_service() -> None:
    folder = Path(ENVIRONMENT["HOST"]).parent
    sharing = {
        name for name, service in SERVICES.items() if f"sockets:{folder}" in service.get("volumes", [])
    }
    assert sharing == {"service", "caddy"}
    upstreams = [SERVICES["caddy"]["environment"][name] for name in ("UPSTREAM", "INTERNAL_UPSTREAM")]
    assert upstreams == [f"unix/{ENVIRONMENT[name]}" for name in ("HOST", "INTERNAL_LISTEN")]
    (account,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    assert SERVICES["caddy"]["group_add"] == [account]
    assert f"install -d -o {account} -g {account} -m 0750 {folder}" in DOCKERFILE
    assert "ports" not in SERVICES["service"]


def test_the_service_records_the_address_that_caddy_saw(installation: Installation) -> None:
    service, caddy = installation
    code = service.create_link(service.owner.api_key)["shortCode"]
    # Any subnet will do.
    sources = [
        f"127.{random.randint(1, 254)}.{random.randint(0, 255)}.{random.randint(2, 254)}" for _ in range(5)
    ]
    with drainer_held(service):
        for source in sources:
            for forged in ({}, {"X_Forwarded_For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}):
                response = caddy.get(SITE, f"/{code}", source=source, **forged)
                assert (response.status, response.headers["Location"]) == (302, "https://example.com/page")
        addresses = Counter(record.address for record in records(service.var_dir / "clicks"))
    assert addresses == dict.fromkeys(sources, 3)


def test_no_container_of_any_network_can_connect_to_the_service(installation: Installation) -> None:
    service = installation.service
    pids = [service.serve(), *processes.descendants(service.serve())]
    assert processes.listening(pids, service.port) == []
    with socket.socket() as client:
        assert client.connect_ex(("127.0.0.1", service.port)) != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can become other accounts.")
@pytest.mark.parametrize("name", ["HOST", "INTERNAL_LISTEN"])
def test_only_the_group_of_the_service_can_use_its_sockets(installation: Installation, name: str) -> None:
    path = Path(installation.service.environment[name])
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    group = 54_321
    os.chown(path, 0, group)
    connect = "import socket, sys; sys.exit(socket.socket(socket.AF_UNIX).connect_ex(sys.argv[1]))"

    def status(*groups: int) -> int:
        # The account cannot read a virtual environment of root.
        command = ["python3", "-S", "-c", connect, str(path)]
        return subprocess.run(
            command, cwd="/", user=65_534, group=65_534, extra_groups=groups, check=False
        ).returncode

    assert (status(), status(group)) == (13, 0)


def test_metrics_are_served_at_the_internal_socket_only(installation: Installation) -> None:
    service, caddy = installation
    assert service.call_internal("/metrics").status == 200
    assert caddy.get(SITE, "/metrics").status == 404
    assert service.call("GET", "/metrics").status == 404


def test_the_health_check_of_the_image_uses_the_socket(installation: Installation) -> None:
    check = [sys.executable, "-m", "shortener_project.running.health_check"]
    environment = {"PATH": os.environ["PATH"], "HOST": installation.service.address}
    # It waits for three seconds, in which a busy machine may not respond.
    eventually(lambda: subprocess.run(check, cwd=REPOSITORY, env=environment, check=False).returncode == 0)
    assert "healthcheck" not in SERVICES["service"]


def test_the_sockets_survive_a_restart_of_the_web_server(installation: Installation) -> None:
    service, caddy = installation
    former = service.gunicorn()
    os.kill(former, signal.SIGTERM)
    eventually(lambda: not processes.is_alive(former))
    assert eventually(lambda: caddy.get(SITE, "/healthz").status == 200)
    assert service.gunicorn() != former
    assert service.call_internal("/metrics").status == 200


def test_a_second_service_does_not_take_the_socket(installation: Installation) -> None:
    service = installation.service
    second = SocketService(make_folder(), Path(service.address).parent)
    second.environment["INTERNAL_LISTEN"] = str(second.var_dir / "internal.sock")
    try:
        done = second.manage("serve")
    finally:
        second.end()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"CommandError: Cannot listen on {service.address}: Address already in use.\n"
    assert service.call("GET", "/healthz").status == 200


def test_a_stopped_service_leaves_no_socket_and_no_error(installation: Installation) -> None:
    service = installation.service
    assert service.stop() == 0
    assert list(Path(service.address).parent.iterdir()) == []
    assert "Traceback" not in service.stderr
    service.start()
    assert service.call("GET", "/healthz").status == 200
