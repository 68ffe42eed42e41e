"""All clients of a run, and their setup through the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from testing.failover.client import NO_ANSWER, Client
from testing.failover.cluster import Cluster
from testing.failover.people import Account, KeyChecker, Keys, Rotator, Team, TeamChanger, TeamChecker, log_in
from testing.failover.registers import INITIAL, RegisterClient, Registers
from testing.failover.service import ServiceHost
from testing.failover.visits import CappedVisitor, Clicks, Links, PasswordVisitor, Visitor
from testing.failover.workers import Problems, Pulse, Repeated, Worker
from testing.failover.writers import (
    DESTINATION,
    Creations,
    Creator,
    EditChecker,
    Edited,
    Editor,
    SetReader,
    Stale,
    link_bodies,
)

EDITED_LINKS = 3
KINDS = ("redirects", "capped", "protected", "edited links", "creations", "edits", "reports", "keys", "team")
PASSWORD = "correct horse battery staple"  # of accounts in a database that ends with the run


class Load:
    """``pulses`` are what worked, by kind. ``pace`` divides the pauses between requests."""

    def __init__(self, cluster: Cluster, pace: float) -> None:
        self._cluster, self._pace = cluster, pace
        self.problems, self.clicks, self.links = Problems(), Clicks(), Links()
        self.pulses = {kind: Pulse(kind) for kind in KINDS}
        self.creations = Creations()
        self.stale: list[Stale] = []
        self.edited: list[Edited] = []
        self._workers: list[Worker] = []
        self._prepare()

    def start(self) -> None:
        self._make_workers()
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.join()

    # Before the first fault.

    def _prepare(self) -> None:
        cluster = self._cluster
        email, password, key = next(service.owner for service in cluster.services if service.owner)
        self.owner = Account(email, password, key)
        self.rotator, self.member = (self._account(name) for name in ("rotator", "member"))
        client = cluster.client(30)
        for body in link_bodies():
            link = self._create(client, body)
            (self.links.protected if "password" in body else self.links.plain).append(link["shortCode"])
        for number in range(EDITED_LINKS):
            link = self._create(client, {"originalUrl": DESTINATION, "title": f"edited-{number}"})
            self.edited.append(Edited(link["_id"], link["shortCode"]))
        self.reported = self._create(client, {"originalUrl": DESTINATION, "title": "reported"})
        self.links.plain.append(self.reported["shortCode"])
        # Known to both hosts, as links in use are.
        for service in cluster.services:
            for code in self.links.plain:
                assert self.clicks.follow(service.client(30), code).status == 302
        self.keys = Keys(self.rotator.key)
        self.team = self._team(client)
        self.registers = Registers(self._create_register)

    def _account(self, name: str) -> Account:
        done = self._cluster.services[0].manage(
            "create_account", f"{name}@failover.example", "--plan", "enterprise", "--password", PASSWORD
        )
        assert done.returncode == 0, done.stderr
        return Account(f"{name}@failover.example", PASSWORD, done.stdout.split()[-1])

    def _create(self, client: Client, body: dict[str, object]) -> dict[str, Any]:
        response = client.call("POST", "/api/urls", body, X_API_Key=self.owner.key)
        assert response.status == 201, response
        link: dict[str, Any] = response.json()["data"]["url"]
        return link

    def _create_register(self) -> str | None:
        with suppress(*NO_ANSWER):
            response = self._cluster.client().call(
                "POST", "/api/urls", {"originalUrl": DESTINATION, "title": INITIAL}, X_API_Key=self.owner.key
            )
            if response.status == 201:
                return str(response.json()["data"]["url"]["_id"])
        return None

    def _team(self, client: Client) -> Team:
        assert log_in(client, self.owner)
        assert log_in(client, self.member)
        owner = {"Authorization": f"Bearer {self.owner.token}"}
        made = client.call("POST", "/api/workspaces", {"name": "Team"}, **owner)
        assert made.status == 201, made
        identifier = made.json()["data"]["workspace"]["_id"]
        path = f"/api/workspaces/{identifier}"
        invited = client.call("POST", f"{path}/invitations", {"role": "editor"}, **owner)
        assert invited.status == 201, invited
        token = invited.json()["data"]["invitation"]["token"]
        accepted = client.call(
            "POST", f"/api/invitations/{token}/accept", Authorization=f"Bearer {self.member.token}"
        )
        assert accepted.status == 200, accepted
        members = client.call("GET", f"{path}/members", **owner).json()["data"]["members"]
        [member] = [one["_id"] for one in members if one["email"] == self.member.email]
        return Team(identifier, member, "Team", "editor")

    # The clients.

    def _make_workers(self) -> None:
        cluster, problems, pulses, key = self._cluster, self.problems, self.pulses, self.owner.key
        links, clicks, creations = self.links, self.clicks, self.creations

        def pause(per_second: float) -> float:
            return 1 / per_second / self._pace

        def direct(seconds: float = 4) -> dict[str, Client]:
            return {service.name: service.client(seconds) for service in cluster.services}

        def follows(kind: str) -> dict[str, Any]:
            return {"client": cluster.client(), "links": links, "clicks": clicks, "pulse": pulses[kind]}

        self._workers = [
            *(Visitor(f"visitor-{n}", pause(10), problems, **follows("redirects")) for n in range(3)),
            *(CappedVisitor(f"capped-{n}", pause(4), problems, **follows("capped")) for n in range(2)),
            PasswordVisitor("protected", pause(3), problems, **follows("protected")),
            *(
                Creator(
                    f"creator-{n}",
                    pause(3),
                    problems,
                    client=cluster.client(),
                    key=key,
                    creations=creations,
                    links=links,
                    pulse=pulses["creations"],
                )
                for n in range(2)
            ),
            SetReader(
                "lister", pause(1), problems, clients=[*direct().values()], key=key, creations=creations
            ),
            *(
                Editor(
                    f"editor-{n}",
                    pause(3),
                    problems,
                    clients=direct(),
                    key=key,
                    link=link,
                    pulse=pulses["edits"],
                )
                for n, link in enumerate(self.edited)
            ),
            Rotator(
                "rotator",
                pause(1),
                problems,
                client=cluster.client(),
                account=self.rotator,
                keys=self.keys,
                pulse=pulses["keys"],
            ),
            TeamChanger(
                "team",
                pause(1),
                problems,
                client=cluster.client(),
                owner=self.owner,
                team=self.team,
                pulse=pulses["team"],
            ),
            *(
                RegisterClient(
                    f"register-{n}",
                    pause(3),
                    problems,
                    clients=[*direct().values()],
                    key=key,
                    registers=self.registers,
                )
                for n in range(4)
            ),
        ]
        for service in cluster.services:
            self._workers += self._checkers_of(service, pause)
        report = cluster.client()
        self._workers.append(Repeated("reporter", pause(4), problems, lambda: self._report(report)))

    def _checkers_of(self, service: ServiceHost, pause: Callable[[float], float]) -> list[Worker]:
        """Those who look on this host at what all others have changed."""
        name, problems = service.name, self.problems
        return [
            EditChecker(
                f"checker-{name}",
                pause(10),
                problems,
                host=name,
                client=service.client(4),
                links=self.edited,
                clicks=self.clicks,
                stale=self.stale,
                pulse=self.pulses["edited links"],
            ),
            KeyChecker(f"keys on {name}", pause(4), problems, client=service.client(4), keys=self.keys),
            TeamChecker(
                f"team on {name}",
                pause(1),
                problems,
                client=service.client(4),
                owner=self.owner,
                member=self.member,
                team=self.team,
            ),
        ]

    def _report(self, client: Client) -> None:
        began = time.monotonic()
        try:
            response = client.call("GET", f"/api/analytics/{self.reported['_id']}", X_API_Key=self.owner.key)
        except NO_ANSWER as error:
            self.pulses["reports"].note(began, type(error).__name__)
            return
        self.pulses["reports"].note(began, "ok" if response.status == 200 else str(response.status))
        if response.status not in {200, 500, 502, 503, 504}:
            self.problems.add(f"a report got {response.status}")
