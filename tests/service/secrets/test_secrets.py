"""Searches everything that a service has stored or logged for the secrets used while it ran."""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import psycopg
import pytest
from psycopg import sql

from testing.domains.dns_server import dns_server
from testing.programs import PATH, program
from testing.service.hosts import make_folder
from testing.service.limits import LONG_TIMEOUTS
from testing.service.running import Service, eventually
from tests.service.secrets.all_features import use_every_feature

pytestmark = pytest.mark.slow

STRACE = shutil.which("strace", path=PATH)


class Run(NamedTuple):
    """A stopped service that has exercised all its features."""

    secrets: list[str]
    database: str
    files: dict[Path, bytes]
    owner: tuple[str, str]
    reached: set[tuple[str, ...]]
    resolver: tuple[str, str]
    called: int


@contextmanager
def uncalled_server() -> Iterator[tuple[int, list[object]]]:
    """A server on the network that the service must never call. Yields its port and the calls it received."""
    callers: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                connection, peer = server.accept()
                with connection:
                    if connection.recv(1) == b"q":
                        return
                callers.append(peer)

        thread = Thread(target=listen)
        thread.start()
        try:
            yield server.getsockname()[1], callers
        finally:
            with socket.create_connection(server.getsockname()) as last:
                last.sendall(b"q")
                thread.join()


@pytest.fixture(scope="module")
def run(make_database: Callable[[], str]) -> Iterator[Run]:
    database, folder = make_database(), make_folder()
    trace = folder / "connections"
    traced = (
        "strace",
        "-D",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-e",
        "trace=connect,sendto,sendmsg,sendmmsg",
        "-e",
        "signal=none",
    )
    with dns_server() as dns, uncalled_server() as (port, callers):
        service = Service(
            folder,
            python=(*traced, "-o", str(trace), sys.executable) if STRACE else (sys.executable,),
            DATABASE_URL=database,
            SECRET_KEY="only-for-this-test-" + "x" * 50,
            DNS_RESOLVERS=dns.name,
            LOG_FORMAT="json",
            **LONG_TIMEOUTS,
        )
        try:
            service.start()
            owner = service.owner
            secrets = use_every_feature(service, port)
            eventually(lambda: everything_is_counted(service, secrets[0]))
            assert service.stop() == 0
            dumped = dump(database)
            files = {path: path.read_bytes() for path in service.folder.rglob("*") if path.is_file()}
            reached = addresses(files.pop(trace).decode()) if STRACE else set()
            resolver = ("AF_INET", str(dns.address[1]), dns.address[0])
            yield Run(
                secrets,
                dumped,
                files,
                (owner.password, owner.api_key),
                reached,
                resolver,
                len(callers),
            )
        finally:
            service.end()


def everything_is_counted(service: Service, key: str) -> bool:
    links = service.call("GET", "/api/urls", X_API_Key=key).json()["data"]["urls"]
    return sum(link["clickCount"] for link in links) == 2


def dump(database: str) -> str:
    """Every row of every table, as in a backup."""
    with psycopg.connect(database) as connection:
        names = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        tables = []
        for (name,) in names:
            with connection.cursor().copy(sql.SQL("COPY (TABLE {}) TO STDOUT").format(sql.SQL(name))) as rows:
                tables.append(b"".join(bytes(chunk) for chunk in rows).decode())
        return "\n".join(tables)


def addresses(trace: str) -> set[tuple[str, ...]]:
    """Every (family, port, address) to which a process of the service connected or sent data."""
    pattern = r"sa_family=(AF_\w+)(?:, sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"([^\"]+)\")?"
    return {match.groups("") for match in re.finditer(pattern, trace)}


def test_no_table_holds_a_secret(run: Run) -> None:
    """ASVS 11.4.2, 14.2.2: a stolen copy of the database opens nothing."""
    assert len(run.database) > 5_000
    owners = [*run.secrets, *run.owner]
    forms = [form for secret in owners for form in (secret, secret.encode().hex(), json.dumps(secret)[1:-1])]
    assert [form for form in forms if form in run.database] == []


def test_no_file_and_no_log_holds_a_secret(run: Run) -> None:
    """ASVS 14.2.1, 16.2.5: the owner's first password and key are in a file for its owner, and nowhere else."""
    assert any(path.name == "stderr" and content for path, content in run.files.items())
    leaks = [
        (path.name, secret)
        for path, content in run.files.items()
        for secret in (*run.secrets, *run.owner)
        if secret.encode() in content
    ]
    assert leaks == [("first_account.txt", secret) for secret in run.owner]


def test_nothing_but_the_database_and_the_resolver_is_ever_called(run: Run) -> None:
    """ASVS 1.3.6, 13.2.6, 15.3.2: no address that a client has written is called, and so no redirect followed."""
    assert run.called == 0
    program("strace")
    assert run.resolver in run.reached
    external = {
        address for address in run.reached if address[0] not in ("AF_UNIX", "AF_NETLINK", "AF_UNSPEC")
    }
    assert external == {run.resolver}
