"""What was handed out or typed in while a service ran, looked for in everything that it has kept and said."""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import psycopg
import pytest
from psycopg import sql

from tests.domains.dns_server import dns_server
from tests.programs import PATH, program
from tests.service.hosts import make_folder
from tests.service.running import Answer, Connection, Service, eventually

STRACE = shutil.which("strace", path=PATH)
TYPED = [f"typed-by-{who}-9f3b" for who in ("a-stranger", "the-owner-by-mistake", "a-visitor", "an-operator")]
LINK_PASSWORDS = ["first-password-of-a-link", "second-password-of-a-link"]


class Life(NamedTuple):
    """A service that has done all that it does, and has ended."""

    secrets: list[str]
    database: str
    files: dict[Path, bytes]
    first_output: str
    owner: tuple[str, str]
    reached: set[tuple[str, ...]]
    resolver: tuple[str, str]
    called: int


@contextmanager
def somebody_else() -> Iterator[tuple[int, list[object]]]:
    """A server inside the network that the service could reach, and must not; gives its port and its callers."""
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
        yield server.getsockname()[1], callers
        with socket.create_connection(server.getsockname()) as last:
            last.sendall(b"q")
            thread.join()


@pytest.fixture(scope="module")
def life(make_database: Callable[[], str]) -> Iterator[Life]:
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
    with dns_server() as dns, somebody_else() as (port, callers):
        service = Service(
            folder,
            python=(*traced, "-o", str(trace), sys.executable) if STRACE else (sys.executable,),
            DATABASE_URL=database,
            SECRET_KEY="only-for-this-test-" + "x" * 50,
            DNS_RESOLVERS=dns.name,
            LOG_FORMAT="json",
        )
        try:
            service.start()
            first_output, owner = service.stdout, service.owner
            secrets = live(service, port)
            eventually(lambda: everything_is_counted(service, secrets[0]))
            assert service.stop() == 0
            kept = dump(database)
            files = {path: path.read_bytes() for path in service.folder.rglob("*") if path.is_file()}
            reached = addresses(files.pop(trace).decode()) if STRACE else set()
            resolver = ("AF_INET", str(dns.address[1]), dns.address[0])
            yield Life(
                secrets,
                kept,
                files,
                first_output,
                (owner.password, owner.api_key),
                reached,
                resolver,
                len(callers),
            )
        finally:
            service.end()


def live(service: Service, port: int) -> list[str]:
    """Everything that is done with a credential, and every place where one may be put by mistake."""
    owner = service.owner
    ask = service.ask

    def log_in(password: str) -> Answer:
        return ask("POST", "/api/auth/login", {"email": owner.email, "password": password})

    tokens = log_in(owner.password).json()
    token, refresh = tokens["token"], tokens["refreshToken"]
    bearer = {"Authorization": f"Bearer {token}"}
    renewed = ask("POST", "/api/auth/refresh", {"refreshToken": refresh}).json()["token"]
    keys = []
    for number in range(2):
        headers = bearer | {"Idempotency-Key": f"rotation-{number}"}
        keys.append(ask("POST", "/api/auth/regenerate-api-key", **headers).json()["apiKey"])
    key = keys[-1]
    assert ask("GET", "/api/auth/api-key", **bearer).json()["apiKey"] == key

    assert log_in(TYPED[0]).status == log_in(TYPED[1]).status == 401
    for place in ("key", "api_key", "apiKey", "token", "access_token"):
        assert ask("GET", f"/api/urls?{place}={key}").status == 401
        assert ask("POST", "/api/urls", {place: key, "originalUrl": "https://example.com/"}).status == 401
    assert ask("GET", f"/api/urls/{key}", X_API_Key=key).status == 404
    assert ask("GET", f"/{key}").status == 404
    assert ask("GET", "/api/urls", X_API_Key=key + "x").status == 401

    # Addresses that a service which looked at them would call.
    inside = f"http://127.0.0.1:{port}/"
    fields = {
        "originalUrl": inside,
        "title": inside,
        "description": inside,
        "tags": [inside],
        "utm": {"source": inside},
    }
    named = {"X-API-Key": key, "Idempotency-Key": "creation"}
    for _ in range(2):
        link = ask("POST", "/api/urls", fields | {"password": LINK_PASSWORDS[0]}, **named).json()["data"][
            "url"
        ]
    path = f"/api/urls/{link['_id']}"
    assert ask("PUT", path, {"password": LINK_PASSWORDS[1]}, X_API_Key=key).status == 200
    assert ask("PUT", path, {"password": "x" * 200 + TYPED[2]}, X_API_Key=key).status == 400
    cookies = visit(service, f"/{link['shortCode']}", Referer=inside)
    plain = service.create_link(key, originalUrl=inside)
    for code in (plain["shortCode"], plain["shortCode"] + "+"):
        assert ask("GET", f"/{code}", Referer=inside, X_Forwarded_For=inside).status in (200, 302)
    assert ask("POST", "/api/qr-codes", {"urlId": plain["_id"]}, X_API_Key=key).status == 201
    assert ask("POST", "/api/qr-codes", {"urlId": plain["_id"], "logo": inside}, X_API_Key=key).status == 400
    claimed = ask("POST", "/api/domains", {"domain": "go.brand.example"}, X_API_Key=key).json()["data"][
        "domain"
    ]
    assert (
        ask("PATCH", f"/api/domains/{claimed['_id']}", {"notFoundUrl": inside}, X_API_Key=key).status == 200
    )
    assert ask("POST", f"/api/domains/{claimed['_id']}/verify", {}, X_API_Key=key).status == 400

    session = operate(service)
    assert len({key, *keys, token, refresh, renewed, session, *cookies}) == 7
    return [key, *keys, token, refresh, renewed, session, *cookies, *LINK_PASSWORDS, *TYPED]


def visit(service: Service, path: str, **headers: str) -> list[str]:
    """Fills in the form of a link's password, wrong and right; gives the values of the cookies."""
    form = service.ask("GET", path, **headers)
    csrf = cookie(form, "csrftoken")
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', form.body)
    assert token is not None
    answers = []
    for password in (TYPED[2], LINK_PASSWORDS[1]):
        sent = f"csrfmiddlewaretoken={token[1].decode()}&password={password}"
        answers.append(post_form(service, path, sent, Cookie=f"csrftoken={csrf}"))
    assert [answer.status for answer in answers] == [401, 303]
    unlocked = re.match(r"unlocked-[\w-]+=([^;]+)", answers[1].headers["Set-Cookie"])
    assert unlocked is not None
    assert service.ask("GET", f"{path}?password={LINK_PASSWORDS[1]}&pw={TYPED[2]}").status == 401
    assert service.ask("GET", path, Cookie=answers[1].headers["Set-Cookie"].partition(";")[0]).status == 302
    return [unlocked[1]]


def operate(service: Service) -> str:
    """Logs in to the admin and looks around; gives the session's cookie."""
    form = service.ask("GET", "/admin/login/")
    csrf = cookie(form, "csrftoken")
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', form.body)
    assert token is not None
    sent = f"csrfmiddlewaretoken={token[1].decode()}&username={service.owner.email}&password="
    kept = {"Cookie": f"csrftoken={csrf}"}
    assert post_form(service, "/admin/login/", sent + TYPED[3], **kept).status == 200
    answer = post_form(service, "/admin/login/", sent + service.owner.password, **kept)
    session = cookie(answer, "sessionid")
    assert service.ask("GET", "/admin/accounts/user/", Cookie=f"sessionid={session}").status == 200
    return session


def post_form(service: Service, path: str, body: str, **headers: str) -> Answer:
    with closing(Connection(service.port)) as connection:
        sent = {"User-Agent": "Mozilla/5.0", "Content-Type": "application/x-www-form-urlencoded", **headers}
        connection.request("POST", path, body, sent)
        return connection.hear()


def cookie(answer: Answer, name: str) -> str:
    for line in answer.headers.get_all("Set-Cookie") or []:
        if line.startswith(f"{name}="):
            return line.partition(";")[0].partition("=")[2]
    raise AssertionError(answer)


def everything_is_counted(service: Service, key: str) -> bool:
    links = service.ask("GET", "/api/urls", X_API_Key=key).json()["data"]["urls"]
    return sum(link["clickCount"] for link in links) == 2


def dump(database: str) -> str:
    """Every row of every table, as a backup has it."""
    with psycopg.connect(database) as connection:
        names = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        found = []
        for (name,) in names:
            with connection.cursor().copy(sql.SQL("COPY (TABLE {}) TO STDOUT").format(sql.SQL(name))) as rows:
                found.append(b"".join(bytes(chunk) for chunk in rows).decode())
        return "\n".join(found)


def addresses(trace: str) -> set[tuple[str, ...]]:
    """Every (family, port, address) that any process of the service has connected or sent to."""
    pattern = r"sa_family=(AF_\w+)(?:, sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )\"([^\"]+)\")?"
    return {match.groups("") for match in re.finditer(pattern, trace)}


def test_no_table_holds_a_secret(life: Life) -> None:
    """ASVS 11.4.2, 14.2.2: a stolen copy of the database opens nothing."""
    assert len(life.database) > 5_000
    owners = [*life.secrets, *life.owner]
    forms = [form for secret in owners for form in (secret, secret.encode().hex(), json.dumps(secret)[1:-1])]
    assert [form for form in forms if form in life.database] == []


def test_no_file_and_no_log_holds_a_secret(life: Life) -> None:
    """ASVS 14.2.1, 16.2.5: the owner's first password and key are shown once, by the first start, and nowhere else."""
    assert [secret for secret in life.owner if secret not in life.first_output] == []
    assert any(path.name == "stderr" and content for path, content in life.files.items())
    found = [
        (path.name, secret)
        for path, content in life.files.items()
        for secret in (*life.secrets, *(life.owner if path.name != "stdout" else ()))
        if secret.encode() in content
    ]
    assert found == []


def test_nothing_but_the_database_and_the_resolver_is_ever_called(life: Life) -> None:
    """ASVS 1.3.6, 13.2.6, 15.3.2: no address that a client has written is called, and so no redirect followed."""
    assert life.called == 0
    program("strace")
    assert life.resolver in life.reached
    abroad = {each for each in life.reached if each[0] not in ("AF_UNIX", "AF_NETLINK", "AF_UNSPEC")}
    assert abroad == {life.resolver}
