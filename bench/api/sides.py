"""The servers that `bench.api` compares: of one shape, each with a database of its own on one PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg

from bench.harness.processes import serving
from bench.harness.stack import PROJECT_DIR
from testing.service.running import free_port

WORKERS, THREADS = 2, 4
SHAPE = ("--workers", str(WORKERS), "--threads", str(THREADS))
STOCK = (
    *("--worker-class", "gthread", "--keep-alive", "75", "--backlog", "2048", "--no-control-socket"),
    *("--log-level", "warning", "django.core.wsgi:get_wsgi_application()"),
)
BULK = 1_000


class Request(NamedTuple):
    """``path`` has %s for the id of a link, ``body`` has %d for numbers."""

    method: str
    path: str
    body: str = ""


SERVICE_REQUESTS = {
    "create": Request(
        "POST",
        "/api/urls",
        '{"originalUrl": "https://www.example.com/spring/sale/%d?utm_source=newsletter", '
        '"title": "Spring sale %d", "tags": ["spring", "Newsletter"]}',
    ),
    "get": Request("GET", "/api/urls/%s"),
    "update": Request("PUT", "/api/urls/%s", '{"title": "Summer sale %d"}'),
}
STOCK_REQUESTS = {
    "create": SERVICE_REQUESTS["create"]._replace(
        path="/api/links/", body=SERVICE_REQUESTS["create"].body.replace("originalUrl", "url")
    ),
    "get": Request("GET", "/api/links/%s/"),
    "update": SERVICE_REQUESTS["update"]._replace(method="PATCH", path="/api/links/%s/"),
}


class Side(NamedTuple):
    """``credential`` is the name and the value of a header. ``ids`` is a file with the id of a link on each line."""

    name: str
    port: int
    pid: int
    database: str
    requests: Mapping[str, Request]
    credential: tuple[str, str]
    ids: Path


@contextmanager
def stock_side(folder: Path, links: int) -> Iterator[Side]:
    """The stock project of `bench.stock`."""
    environment = os.environ | {
        "STOCK_DATABASE_URL": _new_database("stock"),
        "DJANGO_SETTINGS_MODULE": "bench.stock.settings",
    }
    filled = json.loads(_output(PROJECT_DIR, environment, "-m", "bench.stock.fill", str(links)))
    ids = _written(folder / "stock-ids", filled["ids"])
    with _gunicorn(PROJECT_DIR, environment, STOCK) as (port, pid):
        credential = ("Authorization", f"Token {filled['credential']}")
        yield Side("stock", port, pid, "stock", STOCK_REQUESTS, credential, ids)


@contextmanager
def service_side(name: str, checkout: Path, folder: Path, links: int) -> Iterator[Side]:
    """The service of a checkout."""
    database = re.sub(r"\W", "_", name)
    (folder / name).mkdir()
    environment = os.environ | {
        "DATABASE_URL": _new_database(database),
        "VAR_DIR": str(folder / name),
        "DJANGO_SETTINGS_MODULE": "shortener_project.settings",
        "WEB_CONCURRENCY": str(WORKERS),
        "API_CONCURRENCY": "0",
    }
    _output(checkout, environment, "manage.py", "migrate", "--verbosity", "0")
    account = _output(
        checkout, environment, "manage.py", "create_account", "bench@example.com", "--plan", "enterprise"
    )
    key = account.split()[-1]
    configured = ("--config", "shortener_project/gunicorn_conf.py", "shortener_project.wsgi")
    with _gunicorn(checkout, environment, configured) as (port, pid):
        ids = _written(folder / f"{name}-ids", _created(port, key, links))
        yield Side(name, port, pid, database, SERVICE_REQUESTS, ("X-API-Key", key), ids)


def _new_database(name: str) -> str:
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    return f"{url.rpartition('/')[0]}/{name}"


def _output(folder: Path, environment: Mapping[str, str], *arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _written(path: Path, ids: list[str]) -> Path:
    path.write_text("".join(f"{name}\n" for name in ids))
    return path


def _created(port: int, key: str, count: int) -> list[str]:
    """The ids of new links."""
    ids: list[str] = []
    while len(ids) < count:
        urls = [
            {"originalUrl": f"https://www.example.com/page/{number}", "title": f"Page {number}"}
            for number in range(len(ids), min(len(ids) + BULK, count))
        ]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/urls/bulk",
            json.dumps({"urls": urls}).encode(),
            {"Content-Type": "application/json", "X-API-Key": key},
        )
        with urllib.request.urlopen(request) as response:  # noqa: S310 # a service of ours
            ids += re.findall(r'"_id":\s*"([-\w]+)"', response.read().decode())
    return ids


@contextmanager
def _gunicorn(
    folder: Path, environment: Mapping[str, str], arguments: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    """Yields the port and the process id."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *SHAPE, "--bind", f"127.0.0.1:{port}", *arguments],
        cwd=folder,
        env=environment,
    )
    with serving(process, port):
        yield port, process.pid
