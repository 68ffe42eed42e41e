"""python -m bench.attack.starvation: whether a few networks keep others from logging in and from images.

Two networks post the right password of a link without pause, over several connections each, while the owner of an
account logs in from others. Then one network requests QR images without pause, while others request one. The requests
come through a trusted proxy. The exit status is 1 if the service refused one of the others.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from bench.harness.stack import service_folder
from testing.service.hosts import started
from testing.service.running import Connection, Service

PASSWORD = "open sesame"
CONNECTIONS = 4
TRIES = 20

# A busy disk must not turn the preparation into 503. The queues keep their own limits.
SETTINGS = {"TRUSTED_PROXIES": "127.0.0.0/8", "STATEMENT_TIMEOUT_MS": "60000"}

# Sends one request from this address over the connection, and returns its status.
Request = Callable[[Connection, str], int]


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with service_folder(), started(**SETTINGS, RATE_LIMIT_PASSWORDS="0") as service:
        held = _try("log-ins", service, ["10.1.7.1", "10.2.7.1"], _unlock(service), _log_in(service))
    with service_folder(), started(**SETTINGS) as service:
        images = _images(service)
        held &= _try("images", service, ["10.1.7.1"] * 2, images(30), images(1))
    if not held:
        raise SystemExit(1)


def _try(name: str, service: Service, attackers: list[str], attack: Request, request: Request) -> bool:
    """Whether all requests of the others succeeded. Each comes from a network of its own, as those of users do."""
    with _flood(service, attackers, attack) as answered, closing(Connection(service.port)) as connection:
        statuses = Counter(request(connection, f"198.51.{number}.5") for number in range(TRIES))
    print(f"{name}: the attackers got {_shown(answered)}, the others {_shown(statuses)}", flush=True)
    return statuses == {200: TRIES}


@contextmanager
def _flood(service: Service, attackers: list[str], attack: Request) -> Iterator[Counter[int]]:
    """Repeats the attack over CONNECTIONS of each address. Yields once each has had an answer."""
    answered: Counter[int] = Counter()
    ended, lock = threading.Event(), threading.Lock()
    begun = threading.Barrier(len(attackers) * CONNECTIONS + 1)

    def repeat(address: str) -> None:
        with closing(Connection(service.port)) as connection:
            is_first = True
            while not ended.is_set():
                status = attack(connection, address)
                with lock:
                    answered[status] += 1
                if is_first:
                    is_first = False
                    begun.wait()

    threads = [threading.Thread(target=repeat, args=[address]) for address in attackers * CONNECTIONS]
    for thread in threads:
        thread.start()
    begun.wait()
    try:
        yield answered
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _unlock(service: Service) -> Request:
    path = f"/{service.create_link(service.owner.api_key, password=PASSWORD)['shortCode']}"

    def send(connection: Connection, address: str) -> int:
        return _post(connection, path, {"password": PASSWORD}, address)

    return send


def _log_in(service: Service) -> Request:
    body = {"email": service.owner.email, "password": service.owner.password}

    def send(connection: Connection, address: str) -> int:
        return _post(connection, "/api/auth/login", body, address)

    return send


def _images(service: Service) -> Callable[[int], Request]:
    """A function that makes requests for this number of different images, one after the other."""
    key = service.owner.api_key
    link = service.create_link(key)["_id"]

    def requests(number: int) -> Request:
        paths = []
        for size in range(number):
            created = service.call(
                "POST", "/api/qr-codes", {"urlId": link, "size": 2000 - size}, X_API_Key=key
            )
            assert created.status == 201, created.body
            paths.append(created.json()["data"]["qrCode"]["imageUrl"].partition("/qr/")[2])
        position = [0]

        def send(connection: Connection, address: str) -> int:
            position[0] += 1
            path = f"/qr/{paths[position[0] % number]}"
            return connection.call("GET", path, X_Forwarded_For=address).status

        return send

    return requests


def _post(connection: Connection, path: str, body: dict[str, str], address: str) -> int:
    headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
    connection.request("POST", path, json.dumps(body).encode(), headers)
    return connection.receive().status


def _shown(statuses: Counter[int]) -> str:
    return ", ".join(f"{status} ({number}x)" for status, number in sorted(statuses.items()))


if __name__ == "__main__":
    main()
