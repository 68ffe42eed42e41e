"""Replacing workers under load fails no request."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.service.clients.visitors import Visitors
from testing.service.connection import read_to_end
from testing.service.hosts import one_host, two_hosts
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually, free_port, listens

pytestmark = pytest.mark.slow

DESTINATION = "https://example.com/page"


def codes_of(service: Service, api_key: str, number: int = 10) -> list[str]:
    return [service.create_link(api_key)["shortCode"] for _ in range(number)]


def test_a_reload_under_load_fails_no_request(service: Service, api_key: str) -> None:
    codes = codes_of(service, api_key)
    with Visitors(service.port, codes, DESTINATION).running() as visitors:
        for _ in range(3):
            visitors.follow_more()
            before = set(service.workers())
            service.signal(signal.SIGHUP)
            eventually(
                lambda before=before: len(service.workers()) == 2 and not before & set(service.workers())
            )
            assert service.create_link(api_key)["shortCode"]
        visitors.follow_more()

    assert visitors.failures == []


def test_replacement_workers_keep_their_roles(service: Service, api_key: str) -> None:
    codes = codes_of(service, api_key, 1)
    for worker in service.workers():
        before = service.workers()
        os.kill(worker, signal.SIGKILL)
        eventually(
            lambda before=before: len(service.workers()) == 2 and set(service.workers()) != set(before)
        )
        assert eventually(lambda: service.call("GET", f"/{codes[0]}").status) == 302
        assert service.call("GET", "/api/urls", X_API_Key=api_key).status == 200


def test_max_requests_restarts_fail_no_request(make_database: Callable[[], str]) -> None:
    options = f"{LONG_TIMEOUTS['GUNICORN_CMD_ARGS']} --max-requests 300 --max-requests-jitter 50"
    with one_host(make_database(), **LONG_TIMEOUTS | {"GUNICORN_CMD_ARGS": options}) as service:
        codes = codes_of(service, service.owner.api_key)
        before = set(service.workers())
        with Visitors(service.port, codes, DESTINATION).running() as visitors:
            visitors.follow_more(3000)

        assert visitors.failures == []
        # The API worker received too few requests to restart.
        assert len(before & set(service.workers())) == 1


@pytest.fixture
def balanced(
    make_database: Callable[[], str], haproxy: str, tmp_path: Path
) -> Iterator[tuple[int, list[Service]]]:
    """Two instances behind HAProxy, and its port."""
    port = free_port()
    with two_hosts(make_database(), **LONG_TIMEOUTS) as services:
        servers = "".join(
            f"  server host{number} 127.0.0.1:{service.port} check inter 200ms fall 1 rise 1\n"
            for number, service in enumerate(services)
        )
        (tmp_path / "haproxy.cfg").write_text(
            f"global\n  stats socket {tmp_path}/stats\n"
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n"
            "  timeout check 20s\n  option httpchk GET /healthz\n"
            "  retries 3\n  option redispatch 1\n  retry-on conn-failure empty-response\n"
            f"frontend visitors\n  bind 127.0.0.1:{port}\n  default_backend hosts\nbackend hosts\n{servers}"
        )
        proxy = subprocess.Popen(
            [haproxy, "-db", "-f", str(tmp_path / "haproxy.cfg")], stderr=subprocess.DEVNULL
        )
        try:
            eventually(lambda: listens(port))
            yield port, services
        finally:
            proxy.kill()
            proxy.wait()


def test_restarting_one_of_two_instances_fails_no_request(
    balanced: tuple[int, list[Service]], tmp_path: Path
) -> None:
    port, services = balanced
    codes = codes_of(services[0], services[0].owner.api_key)
    with Visitors(port, codes, DESTINATION).running() as visitors:
        visitors.follow_more()
        for service in services:
            assert service.stop() == 0
            visitors.follow_more()
            service.start()
            eventually(lambda: servers_up(tmp_path / "stats") == 2)
            visitors.follow_more()

    assert visitors.failures == []


def servers_up(stats: Path) -> int:
    with socket.socket(socket.AF_UNIX) as haproxy:
        haproxy.connect(str(stats))
        haproxy.sendall(b"show stat\n")
        reply = read_to_end(haproxy)
    return sum(row.startswith(b"hosts,host") and b",UP," in row for row in reply.splitlines())
