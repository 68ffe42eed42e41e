"""The servers for comparison: nginx without and with an access log, and the plain Django view."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.harness.processes import serving
from bench.harness.stack import PROJECT_DIR
from testing.service.running import free_port

SERVICE, MAP, LOGGED, RETURN, PLAIN = "service", "nginx map", "nginx map+log", "nginx return", "plain view"
THREADS = 4


class Server(NamedTuple):
    port: int
    pid: int


@contextmanager
def nginx(
    folder: Path, links: Mapping[str, str], workers: int, cores: Iterable[int], *, log: str = ""
) -> Iterator[dict[str, Server]]:
    """One nginx with a port for each configuration. Its workers never run as root.

    ``log``: directives of the access log of LOGGED, by default nginx's own format.
    """
    ports = {name: free_port() for name in (MAP, LOGGED, RETURN)}
    account = "nobody" if os.geteuid() == 0 else None
    folder.mkdir()
    (folder / "links").write_text("".join(f'/{code} "{url}";\n' for code, url in links.items()))
    configuration = _configuration(folder, ports, next(iter(links.values())), workers, log)
    (folder / "nginx.conf").write_text(configuration)
    if account:
        shutil.chown(folder, account)
    command = ["nginx", "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
    with _running(command, ports[MAP], cores, user=account) as pid:
        yield {name: Server(port, pid) for name, port in ports.items()}


def _configuration(folder: Path, ports: Mapping[str, int], url: str, workers: int, log: str) -> str:
    # The best settings for the accept queue and for balancing workers.
    listen = "listen 127.0.0.1:{} backlog=2048 reuseport;"
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    formats, _, access_log = log.rpartition("\n")
    return f"""
daemon off;
pid {folder}/pid;
error_log stderr error;
worker_processes {workers};
events {{ worker_connections 4096; }}
http {{
    {temporary}
    access_log off;
    keepalive_timeout 75s;
    keepalive_requests 1000000000;
    map_hash_max_size 1048576;
    map_hash_bucket_size 128;
    map $uri $url {{ default ""; include {folder}/links; }}
    server {{ {listen.format(ports[MAP])} location / {{ return 302 $url; }} }}
    {formats}
    server {{
        {listen.format(ports[LOGGED])}
        {access_log or f"access_log {folder}/access.log combined;"}
        location / {{ return 302 $url; }}
    }}
    server {{ {listen.format(ports[RETURN])} location / {{ return 302 "{url}"; }} }}
}}
"""


@contextmanager
def plain_view(workers: int, cores: Iterable[int]) -> Iterator[dict[str, Server]]:
    """The plain view on the service's database, with tables of its own."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", "--worker-class", "gthread", "--workers", str(workers)),
        *("--threads", str(THREADS), "--keep-alive", "75", "--backlog", "2048", "--no-control-socket"),
        *("--bind", f"127.0.0.1:{port}", "--log-level", "warning", "django.core.wsgi:get_wsgi_application()"),
    ]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "bench.baseline.settings"}
    with _running(command, port, cores, env=environment) as pid:
        yield {PLAIN: Server(port, pid)}


@contextmanager
def _running(command: list[str], port: int, cores: Iterable[int], **options: object) -> Iterator[int]:
    process = subprocess.Popen(
        command,
        cwd=PROJECT_DIR,
        preexec_fn=lambda: os.sched_setaffinity(0, set(cores)),  # noqa: PLW1509 # no thread holds a lock at this point
        **options,
    )
    with serving(process, port):
        yield process.pid
