"""All clients of a run, and their setup through the API."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from testing.failover.client import NO_ANSWER, Client
from testing.failover.cluster import Cluster
from testing.failover.people import Account, KeyChecker, Keys, Rotator, Team, TeamChanger, TeamChecker, log_in
from testing.failover.registers import INITIAL, RegisterClient, Registers
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
PASSWORD = "correct horse battery staple"  # noqa: S105 # of accounts in a database that ends with the run


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
        for title, body in link_bodies().items():
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

        self._workers += [
            Visitor(f"visitor-{number}", pause(10), problems, cluster.client(), links, clicks, pulses["redirects"])
            for number in range(3)
        ]
        self._workers += [
            CappedVisitor(f"capped-{number}", pause(4), problems, cluster.client(), links, clicks, pulses["capped"])
            for number in range(2)
        ]
        self._workers.append(
            PasswordVisitor("protected", pause(3), problems, cluster.client(), links, clicks, pulses["protected"])
        )
        self._workers += [
            Creator(f"creator-{number}", pause(3), problems, cluster.client(), key, creations, links, pulses["creations"])
            for number in range(2)
        ]
        self._workers.append(SetReader("lister", pause(1), problems, [*direct().values()], key, creations))
        self._workers += [
            Editor(f"editor-{number}", pause(3), problems, direct(), key, link, pulses["edits"])
            for number, link in enumerate(self.edited)
        ]
        self._workers.append(
            Rotator("rotator", pause(1), problems, cluster.client(), self.rotator, self.keys, pulses["keys"])
        )
        self._workers.append(
            TeamChanger("team", pause(1), problems, cluster.client(), self.owner, self.team, pulses["team"])
        )
        for name, client in direct().items():
            self._workers.append(
                EditChecker(
                    f"checker-{name}", pause(10), problems, name, client, self.edited, clicks, self.stale,
                    pulses["edited links"],
                )
            )  # fmt: skip
        for name, client in direct().items():
            self._workers.append(KeyChecker(f"keys on {name}", pause(4), problems, client, self.keys))
        for name, client in direct().items():
            self._workers.append(
                TeamChecker(f"team on {name}", pause(1), problems, client, self.owner, self.member, self.team)
            )
        self._workers += [
            RegisterClient(f"register-{number}", pause(3), problems, [*direct().values()], key, self.registers)
            for number in range(4)
        ]
        report = cluster.client()
        self._workers.append(Repeated("reporter", pause(4), problems, lambda: self._report(report)))

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
