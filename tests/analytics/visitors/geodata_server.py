"""A server with geodata, and updates from it."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from tests.analytics.mmdb import write_mmdb

PARIS = {"8.8.8.0/24": {"country": {"iso_code": "FR"}, "city": {"names": {"en": "Paris"}}}}
OLD = {"8.8.8.0/24": {"country_code": "DE", "city": "Köln"}}
RequestHandler = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.handlers: dict[str, RequestHandler] = {}
        self.requests: list[str] = []
        self.reached = threading.Event()
        self.ended = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        self.server.handlers.get(self.path, partial(body, content=b"nothing", status=404))(self)

    def log_message(self, *args: object) -> None:
        pass


def body(handler: BaseHTTPRequestHandler, *, content: bytes, status: int = 200, length: int = 0) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(length or len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def silence(handler: BaseHTTPRequestHandler) -> None:
    """Send the headers, and then nothing until the test ends."""
    assert isinstance(handler.server, Server)
    body(handler, content=b"\x1f\x8b", length=1000)
    handler.server.reached.set()
    handler.server.ended.wait()


def redirect(handler: BaseHTTPRequestHandler, *, to: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", to)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.ended.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def file(settings: LazySettings, server: Server, tmp_path: Path) -> Path:
    """The path of the downloaded file; GEODATA_URL is the server's /city.mmdb.gz."""
    settings.GEODATA_URL = server.url("/city.mmdb.gz")
    settings.GEODATA_FILE = tmp_path / "geodata" / "city.mmdb"
    return settings.GEODATA_FILE


@pytest.fixture
def city(tmp_path: Path) -> bytes:
    return database(tmp_path)


def database(directory: Path, records: dict = PARIS, database_type: str = "DBIP-City-Lite") -> bytes:
    path = write_mmdb(directory / "served.mmdb", records, ip_version=6, database_type=database_type)
    content = path.read_bytes()
    path.unlink()
    return content


def update() -> list[str]:
    out = StringIO()
    call_command("update_geodata", stdout=out)
    return out.getvalue().splitlines()


def refusal() -> str:
    with pytest.raises(CommandError) as refused:
        update()
    message = str(refused.value)
    assert "\n" not in message
    return message
