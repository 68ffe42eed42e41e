"""python -m bench.unknown_ids [--tries N]: whether a response time reveals that an id exists in another workspace.

A stranger requests objects of another workspace and unknown ids in turn, on one connection to a service with one API
worker. A second unknown id shows the difference of two equal kinds, which is the noise of the measurement.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from contextlib import closing
from typing import Any, NamedTuple

from bench.harness.results import record
from bench.harness.running import installation
from bench.harness.stack import service_folder
from common.ids import new_public_id
from testing.service.running import Connection, Service

ROUTES = (
    "GET /api/urls/{url}",
    "PUT /api/urls/{url}",
    "DELETE /api/urls/{url}",
    "POST /api/urls/{url}/simulate",
    "GET /api/urls/{url}/history",
    "POST /api/urls/{deleted}/undelete",
    "GET /api/analytics/{url}",
    "GET /api/analytics/{url}/devices",
    "GET /api/analytics/{url}/geographic",
    "GET /api/analytics/{url}/clicks",
    "GET /api/domains/{domain}",
    "DELETE /api/domains/{domain}",
    "GET /api/domains/{domain}/analytics",
    "GET /api/qr-codes/{qr}",
    "DELETE /api/qr-codes/{qr}",
    "PATCH /api/keys/{key}",
    "POST /api/keys/{key}/rotate",
    "GET /api/workspaces/{workspace}",
    "GET /api/workspaces/{workspace}/members",
)
KINDS = ("foreign", "unknown", "another unknown")


class Times(NamedTuple):
    """Median milliseconds of each kind."""

    foreign: float
    unknown: float
    another: float

    @property
    def difference(self) -> float:
        return abs(self.foreign / self.unknown - 1)

    @property
    def noise(self) -> float:
        return abs(self.another / self.unknown - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=1000, help="of each kind, for each route")
    tries = parser.parse_args().tries
    with service_folder() as folder, installation(folder) as service:
        objects = create_objects(service)
        with closing(Connection(service.port)) as stranger:
            token = sign_up(service, stranger)
            results = [measured(stranger, token, route, objects, tries) for route in ROUTES]
    difference, noise = (max(getattr(times, name) for times in results) for name in ("difference", "noise"))
    record(
        "limits-unknown-ids",
        f"at most {difference:.1%} on {len(ROUTES)} routes, and {noise:.1%} between two unknown ids "
        f"(medians of {tries})",
    )


def create_objects(service: Service) -> dict[str, str]:
    """Ids of an owner's objects of each kind."""
    with closing(Connection(service.port)) as owner:
        credentials = {"email": service.owner.email, "password": service.owner.password}
        token = owner.call("POST", "/api/auth/login", credentials).json()["token"]

        def create(path: str, kind: str, **body: Any) -> str:
            response = owner.call("POST", f"/api/{path}", body, Authorization=f"Bearer {token}")
            assert response.status == 201, response
            identifier: str = response.json()["data"][kind]["_id"]
            return identifier

        url, deleted = (create("urls", "url", originalUrl="https://example.com/") for _ in range(2))
        owner.call("DELETE", f"/api/urls/{deleted}", Authorization=f"Bearer {token}")
        return {
            "url": url,
            "deleted": deleted,
            "domain": create("domains", "domain", domain="go.brand.example"),
            "qr": create("qr-codes", "qrCode", urlId=url),
            "key": create("keys", "key", name="A key", scopes=["urls:read"]),
            "workspace": create("workspaces", "workspace", name="A team"),
        }


def sign_up(service: Service, client: Connection) -> str:
    """A token of an account without anything."""
    credentials = {"email": "stranger@example.com", "password": "correct horse battery"}
    command = ("create_account", credentials["email"], "--plan", "pro", "--password", credentials["password"])
    assert service.manage(*command).returncode == 0
    token: str = client.call("POST", "/api/auth/login", credentials).json()["token"]
    return token


def measured(client: Connection, token: str, route: str, objects: dict[str, str], tries: int) -> Times:
    method, path = route.split()
    unknown, another = ({name: str(new_public_id()) for name in objects} for _ in range(2))
    paths = dict(zip(KINDS, (path.format(**ids) for ids in (objects, unknown, another)), strict=True))
    body = None if method == "GET" else {"name": "x"} if "keys" in path and method == "PATCH" else {}
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for number in range(tries + 10):
        for kind in random.sample(KINDS, len(KINDS)):
            started = time.perf_counter()
            response = client.call(method, paths[kind], body, Authorization=f"Bearer {token}")
            elapsed = time.perf_counter() - started
            assert response.status == 404, (route, response)
            # The first ones fill caches.
            if number >= 10:
                times[kind].append(elapsed * 1000)
    medians = Times(*(statistics.median(times[kind]) for kind in KINDS))
    print(
        f"{route:40} {medians.foreign:.3f} ms foreign, {medians.unknown:.3f} ms unknown: {medians.difference:.1%} "
        f"apart, two unknown ids {medians.noise:.1%}",
        flush=True,
    )
    return medians


if __name__ == "__main__":
    main()
