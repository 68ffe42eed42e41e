from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from testing.programs import program
from testing.service.hosts import SECRET_KEY
from testing.service.postgresql.preparation import preparation_held
from testing.service.running import DEADLINE, REPOSITORY, Service, eventually
from tests.service.conftest import Installation
from tests.service.starts.refusals import refusal

pytestmark = pytest.mark.slow


def paste_curl_line(output: str, **environment: str) -> Any:
    """The JSON response."""
    program("curl")
    (line,) = [line for line in output.splitlines() if line.startswith("  curl ")]
    environment["PATH"] = os.environ["PATH"]
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, timeout=DEADLINE, check=True, env=environment
    )
    return json.loads(done.stdout)


def test_the_first_start_shows_an_owner_whose_key_and_password_work(
    service: Service, installation: Installation
) -> None:
    owner = installation.owner
    assert owner.email == "owner@localhost"
    body = {"email": owner.email, "password": owner.password}
    login = service.call("POST", "/api/auth/login", body)
    assert login.status == 200
    bearer = f"Bearer {login.json()['token']}"
    key = service.call("GET", "/api/auth/api-key", Authorization=bearer)
    assert key.json() == {"success": True, "apiKey": owner.api_key}
    stats = service.call("GET", "/api/urls/stats", X_API_Key=owner.api_key)
    assert stats.json()["plan"] == "enterprise"


def test_first_account_secrets_are_only_in_a_private_file(
    service: Service, installation: Installation
) -> None:
    path = service.var_dir / "first_account.txt"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    line = f"The password and the API key of the first account are in {path}."
    assert line in installation.first_output.splitlines()
    output = installation.first_output + service.stderr
    assert installation.owner.password not in output
    assert "sl_live_" not in output


def test_a_terminal_shows_the_first_accounts_secrets(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    service = make_service(DATABASE_URL=make_empty_database(), SECRET_KEY=SECRET_KEY)
    terminal, its_other_end = os.openpty()
    service.process = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=REPOSITORY,
        env=service.environment,
        stdin=subprocess.DEVNULL,
        stdout=its_other_end,
        start_new_session=True,
    )
    os.close(its_other_end)
    try:
        shown = b""
        while b"Ctrl-C stops everything." not in shown:
            shown += os.read(terminal, 4096)
        # A signal that arrives before the service runs ends it with another exit status.
        eventually(service.is_healthy)
    finally:
        exit_code = service.stop()
        os.close(terminal)
    text = shown.decode().replace("\r\n", "\n")
    path = service.var_dir / "first_account.txt"
    assert exit_code == 0
    assert f"The first account, also in {path}:\n{path.read_text()}\n" in text
    assert f"-H X-API-Key:{service.owner.api_key} " in text


def test_no_first_account_if_its_file_cannot_be_written(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    url = make_empty_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    (service.var_dir / "first_account.txt").mkdir(parents=True)
    assert refusal(service).startswith("CommandError: The first account's secrets cannot be saved: ")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM accounts_user").fetchone() == (0,)


def test_the_curl_line_of_the_first_start_creates_a_link_as_pasted(
    service: Service, installation: Installation
) -> None:
    response = paste_curl_line(installation.first_output, API_KEY=installation.owner.api_key)
    assert response["success"] is True
    link = urlsplit(response["data"]["url"]["shortUrl"])
    assert link.netloc == f"localhost:{service.port}"
    followed = service.call("GET", link.path)
    assert (followed.status, followed.headers["Location"]) == (302, "https://example.com/")


def test_a_second_start_prints_no_secret_and_finds_the_links_again(
    service: Service, installation: Installation
) -> None:
    link = service.create_link(installation.owner.api_key)
    assert service.stop() == 0
    service.start()
    output = service.stdout + service.stderr
    assert f"Serving http://localhost:{service.port} (on 127.0.0.1:{service.port})" in output
    assert installation.owner.password not in output
    assert "sl_live_" not in output
    followed = service.call("GET", f"/{link['shortCode']}")
    assert (followed.status, followed.headers["Location"]) == (302, "https://example.com/page")
    assert paste_curl_line(output, API_KEY=installation.owner.api_key)["success"] is True


def test_each_start_says_that_the_file_with_secrets_still_exists(service: Service) -> None:
    path = service.var_dir / "first_account.txt"
    reminder = (
        f"{path} still has the password and the API key of the first account. Keep them elsewhere, and delete the"
        " file."
    )
    service.stop()
    service.start()
    assert reminder in service.stdout.splitlines()
    hidden = path.rename(path.with_suffix(".hidden"))
    service.stop()
    service.start()
    assert "still has the password" not in service.stdout
    hidden.rename(path)


def test_health_is_public(service: Service) -> None:
    alive = service.call("GET", "/healthz")
    assert (alive.status, alive.json()) == (200, {"status": "ok"})
    # On a busy machine, the service may lack contact to its database for a moment.
    ready = eventually(
        lambda: response if (response := service.call("GET", "/readyz")).status == 200 else None
    )
    assert (ready.status, ready.json()) == (200, {"status": "ok"})


def test_two_services_starting_on_an_empty_database_create_one_owner(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    url = make_empty_database()
    services = [make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY) for _ in range(2)]
    with preparation_held(url) as wait_for_blocked:
        for service in services:
            service.launch()
        wait_for_blocked(2)
    for service in services:
        eventually(service.is_healthy)
    (shown_by,) = [service for service in services if "API key" in service.stdout]
    key = shown_by.owner.api_key
    code = services[0].create_link(key)["shortCode"]
    assert services[1].call("GET", f"/{code}").status == 302
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT email FROM accounts_user").fetchall() == [("owner@localhost",)]


def test_two_services_starting_on_one_port_one_serves_and_one_fails(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    url = make_empty_database()
    first = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    services = [first, make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY, port=first.port)]
    with preparation_held(url) as wait_for_blocked:
        for service in services:
            service.launch()
        wait_for_blocked(2)
    (loser,) = eventually(lambda: [service for service in services if service.process.poll() is not None])
    (winner,) = [service for service in services if service is not loser]
    eventually(winner.is_healthy)
    assert loser.exit_code() == 1
    assert loser.stdout == ""
    assert loser.stderr == (
        f"CommandError: Cannot listen on 127.0.0.1:{first.port}: Address already in use.\n"
    )
    # Only the service that keeps running shows the owner's secrets.
    assert winner.create_link(winner.owner.api_key)["isActive"] is True


def test_connections_are_refused_before_the_database_is_prepared(
    make_service: Callable[..., Service], make_empty_database: Callable[[], str]
) -> None:
    url = make_empty_database()
    service = make_service(DATABASE_URL=url, SECRET_KEY=SECRET_KEY)
    with preparation_held(url) as wait_for_blocked:
        service.launch()
        wait_for_blocked(1)
        with pytest.raises(ConnectionRefusedError):
            service.call("GET", "/healthz")
    eventually(service.is_healthy)
