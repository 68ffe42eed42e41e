"""python -m bench.attack.bodies: bodies and calls designed to be expensive, sent to one API process.

Prints for each: status, seconds, size of the response, processor time, and the peak memory of the process. They
include the largest valid calls: the memory limits in deploy/ and compose.yaml come from this bench. The exit status is
1 if a response was too long or a server error, if the process used too much memory, or if it died.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from bench.harness.processes import cpu_seconds
from bench.harness.running import installation
from bench.harness.stack import service_folder
from testing.service.running import Connection, Response, Service

# A third of the limit in deploy/ and compose.yaml, which applies to all processes together.
MAX_MEGABYTES = 1_365
# The size of any error response. The response of a valid call grows with the number of created objects.
MAX_ERROR_BYTES = 500_000
MAX_RESPONSE_RATIO = 4
MARKS = "\u0301\u0316"
URL = "https://example.com/"


class Attack(NamedTuple):
    name: str
    path: str
    body: Callable[[], Any]
    # Concurrent requests, each on a separate connection.
    at_once: int = 1


def _zeros(megabytes: float) -> list[int]:
    return [0] * int(megabytes * 500_000)


def _items(**fields: Any) -> list[dict[str, Any]]:
    return [fields] * 1_000


def _full_link(number: int) -> dict[str, Any]:
    """The largest valid link of which a thousand fit into one body."""
    return {
        "originalUrl": f"{URL}{number}?" + "x" * 2_000,
        "title": "t" * 200,
        "description": "d" * 500,
        "tags": [f"tag number {tag} of {number}" for tag in range(20)],
        "utm": {"source": "s" * 100},
        **({"password": f"open sesame {number}"} if number < 100 else {}),
    }


def _rows(count: int) -> str:
    lines = [f'{URL}{number},title {number},"a,b,c,d",{"d" * 400}' for number in range(count)]
    return "originalUrl,title,tags,description\n" + "\n".join(lines)


def _logo() -> str:
    buffer = BytesIO()
    noise = random.Random(1).randbytes(100 * 100 * 3)
    Image.frombytes("RGB", (100, 100), noise).resize((1024, 1024)).save(buffer, "JPEG", quality=20)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def attacks(url_id: str) -> list[Attack]:
    bulk, update, imports = "/api/urls/bulk", "/api/urls/bulk-update", "/api/urls/import"
    lists = {
        "tags": [0] * 50,
        "restrictions": dict.fromkeys(("allowedCountries", "blockedCountries"), ["XX"] * 300),
    }
    return [
        Attack("3.8 MB of zeros as links", bulk, lambda: {"urls": _zeros(3.8)}),
        Attack("1 MB of zeros as links", bulk, lambda: {"urls": _zeros(1)}),
        Attack("4 MB of empty lists as links", bulk, lambda: {"urls": [[]] * 1_300_000}),
        Attack("4 MB of empty objects as links", bulk, lambda: {"urls": [{}] * 1_300_000}),
        Attack("30,000 zeros as tags", "/api/urls", lambda: {"originalUrl": URL, "tags": [0] * 30_000}),
        Attack("1,000 links, 650 errors in each", bulk, lambda: {"urls": _items(**lists)}),
        Attack(
            "250,000 unknown keys", bulk, lambda: {"urls": [{"utm": {f"k{n}": 0 for n in range(250_000)}}]}
        ),
        Attack("a key of 3 MB", bulk, lambda: {"urls": [{"utm": {"k" * 3_000_000: 0}}]}),
        Attack(
            "a run of 2,000,000 combining marks",
            bulk,
            lambda: {"urls": [{"originalUrl": URL, "title": MARKS * 500_000}]},
        ),
        Attack(
            "200,000 keys for 1,000 links",
            update,
            lambda: {"ids": ["x"] * 1_000, "data": {f"k{n}": 0 for n in range(200_000)}},
        ),
        Attack("8 MB of empty rows", imports, lambda: {"content": "[" + "{}," * 2_600_000 + "{}]"}),
        Attack(
            "8 MB of commas as tags",
            imports,
            lambda: {"content": f'originalUrl,tags\n{URL},"{"," * 7_900_000}"\n'},
        ),
        Attack(
            "10,000 rows with errors",
            imports,
            lambda: {"content": json.dumps([{"originalUrl": "x", "tags": [""] * 50}] * 10_000)},
        ),
        Attack("the largest legal bulk call", bulk, lambda: {"urls": [_full_link(n) for n in range(1_000)]}),
        Attack("the largest legal import", imports, lambda: {"content": _rows(10_000), "dryRun": False}),
        Attack(
            "three legal imports at once", imports, lambda: {"content": _rows(10_000), "dryRun": False}, 3
        ),
        Attack(
            "three imports of empty rows at once",
            imports,
            lambda: {"content": "[" + "{}," * 2_600_000 + "{}]"},
            3,
        ),
        Attack("20 bulk calls of zeros at once", bulk, lambda: {"urls": _zeros(3.8)}, 20),
        Attack(
            "the largest QR code", "/api/qr-codes", lambda: {"urlId": url_id, "size": 2000, "logo": _logo()}
        ),
        Attack(
            "40 log-ins at once", "/api/auth/login", lambda: {"email": "a@example.com", "password": "x"}, 40
        ),
    ]


class Process:
    """Processor time and peak memory of the processes that serve the API."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)

    def seconds(self) -> float:
        return cpu_seconds(self._pids)

    @contextmanager
    def peak(self) -> Iterator[list[float]]:
        """After the block, the list contains the peak resident memory of the largest process, in MB."""
        for pid in self._pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        peaks: list[float] = []
        yield peaks
        peaks.append(max(map(_peak_mb, self._pids)))


def _peak_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1000


def run(service: Service, attack: Attack, key: str, process: Process) -> list[str]:
    """Send one attack. Return the limits that it exceeded."""
    text = json.dumps(attack.body(), ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    responses: list[Response] = []

    def send() -> None:
        with closing(Connection(service.port)) as connection:
            connection.request("POST", attack.path, text, headers)
            responses.append(connection.receive())

    spent, started = process.seconds(), time.perf_counter()
    with process.peak() as peak:
        threads = [threading.Thread(target=send) for _ in range(attack.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    took, spent = time.perf_counter() - started, process.seconds() - spent
    statuses = ", ".join(
        f"{status} ({number}x)" if number > 1 else str(status)
        for status, number in sorted(Counter(response.status for response in responses).items())
    )
    largest = max((len(response.body) for response in responses), default=0)
    print(
        f"{attack.name:<36} {len(text) / 1e6:5.1f} MB sent  {statuses:<20} {took:6.1f} s  {spent:6.1f} s of processor"
        f"  {largest / 1e3:9.1f} kB received  peak {peak[0]:6.0f} MB",
        flush=True,
    )
    problems = [problem for response in responses for problem in _problems(response, len(text))]
    if len(responses) < attack.at_once:
        problems.append(f"{attack.at_once - len(responses)} requests got no response")
    if peak[0] > MAX_MEGABYTES:
        problems.append(f"a process used {peak[0]:.0f} MB")
    return [f"{attack.name}: {problem}" for problem in problems]


def _problems(response: Response, sent: int) -> Iterator[str]:
    is_busy = response.status == 503 and response.headers["Retry-After"] is not None
    if response.status >= 500 and not is_busy:
        yield f"status {response.status}"
    limit = MAX_ERROR_BYTES if response.status >= 400 else MAX_RESPONSE_RATIO * sent + MAX_ERROR_BYTES
    if len(response.body) > limit:
        yield f"a response of {len(response.body):,} bytes to {sent:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="run only attacks whose names contain one of these"
    )
    options = parser.parse_args()
    with (
        service_folder() as folder,
        installation(folder, WEB_CONCURRENCY="1", API_CONCURRENCY="0") as service,
    ):
        key = service.owner.api_key
        url_id = service.create_link(key)["_id"]
        workers = service.workers()
        process = Process(workers)
        with process.peak() as idle:
            time.sleep(1)
        print(f"idle: {idle[0]:.0f} MB", flush=True)
        problems = [
            problem
            for attack in attacks(url_id)
            if any(part in attack.name for part in options.only)
            for problem in run(service, attack, key, process)
        ]
        response = service.call("GET", "/readyz")
        print(f"afterwards: /readyz {response.status}, idle {_peak_mb(workers[-1]):.0f} MB at most")
        if response.status != 200:
            problems.append(f"afterwards: /readyz returned {response.status}")
    if problems:
        print(*problems, sep="\n")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
