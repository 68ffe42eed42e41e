"""python -m bench.bulk: a thousand links in one call, an import and an export, in a database of a million links."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django
from django.db import connection

from bench.harness import results
from bench.harness.client import link_body
from bench.harness.stack import PROJECT_DIR, database

if TYPE_CHECKING:
    from accounts.models import User

ROUNDS = 15
ITEMS = 1_000
CREATE_SECONDS = 1.0
IMPORT_SECONDS = 30.0
# Normal fluctuation of a serving process. A list of a million links would need a thousand times as much.
FLAT_MB = 8.0
_READ_BYTES = 64 * 1024
# Unique for each run, so that codes left by an interrupted run do not collide.
_RUN = f"{int(time.time()):x}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=100_000, help="rows to import")
    parser.add_argument("--only", choices=["create", "import", "export"])
    options = parser.parse_args()
    with database(str(options.links)):
        os.environ |= {"WEB_CONCURRENCY": "1", "API_CONCURRENCY": "0"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "shortener_project.settings"
        django.setup()
        # These modules read the settings, which name the database.
        from accounts.services import rotate_api_key
        from bench.load import busy_accounts

        owners = busy_accounts.load(options.links)
        keys = {name: rotate_api_key(user=owners[name]) for name in ("creator", "many")}
        try:
            if options.only in (None, "create"):
                _create(keys["creator"])
            if options.only in (None, "import"):
                _import(owners["creator"], options.rows)
            if options.only in (None, "export"):
                _export(keys["many"], options.links)
        finally:
            _tidy(owners["creator"])


def _create(key: str) -> None:
    with _server() as (port, _):
        times = []
        for number in range(ROUNDS + 1):
            body = json.dumps({"urls": [_link(number * ITEMS + n) for n in range(ITEMS)]})
            started = time.perf_counter()
            response = json.loads(_send(port, "POST", "/api/urls/bulk", key, body).read())
            times.append(time.perf_counter() - started)
            assert response["data"]["succeeded"] == ITEMS, response["message"]
    del times[0]  # Warm-up.
    spread = f"{min(times):.2f} {statistics.median(times):.2f} {max(times):.2f}"
    print(f"creating {ITEMS:,} links in one call (min/med/max of {ROUNDS}): {spread} s")
    print(f"  under {CREATE_SECONDS:.0f} s: {'yes' if max(times) < CREATE_SECONDS else 'NO'}", flush=True)
    results.record("bulk-create", f"{results.spread(times, '.2f')} s ({ROUNDS} rounds)")


def _import(owner: User, rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "links.csv")
        with file.open("w") as lines:
            lines.write("originalUrl,customCode,title,tags,clickCount,createdAt\n")
            for n in range(rows):
                link = _link(n)
                lines.write(f"{link['originalUrl']},{link['customCode']}i,{link['title']},")
                lines.write(f'"spring,Newsletter",{n % 100},2024-03-01\n')
        command = [sys.executable, "manage.py", "import_links", str(file), "--owner", owner.email]
        seconds = []
        for arguments in ([], ["--apply"]):
            started, spent = time.perf_counter(), _processor_seconds()
            done = subprocess.run(
                command + arguments, cwd=PROJECT_DIR, capture_output=True, text=True, check=True
            )
            took = time.perf_counter() - started
            assert done.stdout.splitlines()[-1].startswith(f"{rows} of {rows} links"), done.stdout[-200:]
            spent = _processor_seconds() - spent
            action = "importing" if arguments else "dry run of importing"
            print(
                f"{action} {rows:,} links: {took:.1f} s, {spent:.1f} s of processor time outside PostgreSQL"
            )
            seconds.append(took)
        target = IMPORT_SECONDS * rows / 100_000
        print(f"  under {target:.0f} s: {'yes' if took < target else 'NO'}", flush=True)
        results.record("bulk-import", f"{seconds[1]:.1f} s; dry run {seconds[0]:.1f} s ({rows:,} links)")


def _export(key: str, links: int) -> None:
    for file_format in ("csv", "jsonl"):
        with _server() as (port, worker):
            # Warm up what a worker loads only once.
            _send(port, "GET", f"/api/urls/export?format={file_format}&search=quokka", key).read()
            started, size, lines, used = time.perf_counter(), 0, 0, []
            response = _send(port, "GET", f"/api/urls/export?format={file_format}", key)
            while piece := response.read(_READ_BYTES):
                size += len(piece)
                lines += piece.count(b"\n")
                used.append(_memory(worker))
            took = time.perf_counter() - started
        assert lines == links + (file_format == "csv"), lines
        rate = f"{links / took:,.0f} links/s"
        print(f"exporting {links:,} links as {file_format}: {took:.0f} s, {rate}, {size / 1e6:.0f} MB")
        # Ignore the first tenth, in which a worker allocates what it needs once.
        tenth = len(used) // 10
        marks = [used[0], used[tenth], used[len(used) // 2], used[-1]]
        shown = " ".join(f"{mark:.1f}" for mark in marks)
        print(f"  memory of the worker at 0, 10, 50 and 100 %: {shown} MB; at most {max(used):.1f}")
        growth = max(used[tenth:]) - used[tenth]
        print(f"  flat, within {FLAT_MB:.0f} MB: {'yes' if growth < FLAT_MB else 'NO'}", flush=True)
        memory = f"the worker's memory {min(used[tenth:]):.0f} to {max(used[tenth:]):.0f} MB"
        results.record(f"bulk-export-{file_format}", f"{took:.0f} s for {links:,} links; {memory}")


def _link(number: int) -> dict[str, Any]:
    return link_body(number) | {"customCode": f"bulk{number:x}n{_RUN}"}


def _send(port: int, method: str, path: str, key: str, body: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request(method, path, body, {"X-API-Key": key, "Content-Type": "application/json"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    return response


@contextmanager
def _server() -> Iterator[tuple[int, int]]:
    """A server with one worker: its port and the worker's process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (sys.executable, "-m", "gunicorn", "--config", "shortener_project/gunicorn_conf.py")
    process = subprocess.Popen(
        [*command, "--bind", f"127.0.0.1:{port}", "shortener_project.wsgi"], cwd=PROJECT_DIR
    )
    try:
        _wait_for(port)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        [worker] = children
        yield port, int(worker)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _processor_seconds() -> float:
    """Processor time of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory(process: int) -> float:
    """Proportional set size (PSS) in megabytes."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


def _tidy(owner: User) -> None:
    """Restore the loaded state of the database for the next run."""
    links_of_owner = "(SELECT id FROM links_link WHERE owner_id = %s)"
    with connection.cursor() as cursor:
        for table in ("links_code WHERE link_id", "links_clickcounter WHERE link_id", "links_link WHERE id"):
            cursor.execute(f"DELETE FROM {table} IN {links_of_owner}", [owner.pk])
        cursor.execute("VACUUM (ANALYZE)")
    connection.close()


if __name__ == "__main__":
    main()
