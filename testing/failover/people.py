"""Rotations of an API key, and changes of a workspace's name and of a member's role.

Whatever an acknowledged change has taken away must be refused from then on, on every host.
"""

from __future__ import annotations

import random
import time
from collections import deque
from dataclasses import dataclass, field

from testing.failover.client import NO_ANSWER, Client
from testing.failover.workers import Problems, Pulse, Worker
from testing.failover.writers import LATER
from testing.service.connection import Response

# Former keys that are tried. They stay revoked for ever, so a few of the latest will do.
LATEST = 30


@dataclass
class Account:
    email: str
    password: str
    key: str
    token: str = ""


def log_in(client: Client, account: Account) -> bool:
    """Get a token. False if that failed for now."""
    response = client.call("POST", "/api/auth/login", {"email": account.email, "password": account.password})
    if response.status == 200:
        account.token = response.json()["token"]
    return response.status == 200


class Bearer:
    """Calls of an account with its token, which it renews after 401. None: there is no token for now."""

    def __init__(self, account: Account) -> None:
        self.account = account

    def call(
        self, client: Client, method: str, path: str, body: object = None, **headers: str
    ) -> Response | None:
        for _ in range(2):
            if not self.account.token and not log_in(client, self.account):
                return None
            response = client.call(
                method, path, body, Authorization=f"Bearer {self.account.token}", **headers
            )
            if response.status != 401:
                return response
            self.account.token = ""
        return None


@dataclass
class Keys:
    """``revoked`` has former keys with the moment at which the response with their successor had arrived."""

    current: str
    revoked: deque[tuple[str, float]] = field(default_factory=lambda: deque(maxlen=LATEST))
    rotations: int = 0
    refusals: int = 0
    # Between a request for a rotation and its response, nobody knows whether the current one works.
    is_settled: bool = True
    issued_at: float = 0


class Rotator(Worker):
    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        client: Client,
        account: Account,
        keys: Keys,
        pulse: Pulse,
    ) -> None:
        super().__init__(name, pause, problems)
        self._client, self._bearer, self._keys, self._pulse = client, Bearer(account), keys, pulse

    def step(self) -> None:
        keys = self._keys
        keys.is_settled = False
        response = self._pulse.watch(
            lambda: self._bearer.call(self._client, "POST", "/api/auth/regenerate-api-key")
        )
        if response is None:
            return
        if response.status == 200:
            keys.revoked.append((keys.current, time.monotonic()))
            keys.current = response.json()["apiKey"]
            keys.rotations += 1
            keys.issued_at, keys.is_settled = time.monotonic(), True
        elif response.status not in LATER:
            self.problems.add(f"a rotation got {response.status}: {response.body[:200]!r}")


class KeyChecker(Worker):
    """Tries a former key on one host, and now and then the current one."""

    def __init__(self, name: str, pause: float, problems: Problems, *, client: Client, keys: Keys) -> None:
        super().__init__(name, pause, problems)
        self._client, self._keys = client, keys

    def step(self) -> None:
        keys = self._keys
        if keys.revoked and random.random() < 0.8:
            key, revoked_at = random.choice([*keys.revoked])
            began = time.monotonic()
            status = self._status(key)
            keys.refusals += status == 401
            if status == 200:
                self.problems.add(
                    f"{self.name}: a key that was revoked {began - revoked_at:.2f} s before was let in"
                )
            elif status not in {None, 401, *LATER}:
                self.problems.add(f"{self.name}: a revoked key got {status}")
        elif keys.is_settled:
            key, issued_at = keys.current, keys.issued_at
            status = self._status(key)
            if keys.is_settled and keys.issued_at == issued_at and status == 401:
                age = time.monotonic() - issued_at
                self.problems.add(f"{self.name}: the current key, {age:.2f} s old, was refused")

    def _status(self, key: str) -> int | None:
        try:
            return self._client.call("GET", "/api/urls/stats", X_API_Key=key).status
        except NO_ANSWER:
            return None


@dataclass
class Team:
    """``name`` and ``role`` are the acknowledged ones, or None while a change has no answer yet."""

    identifier: str
    member: str
    name: str | None
    role: str | None
    changes: int = 0
    # The number of the latest change of each that was tried: a check counts only if there was none meanwhile.
    tried: int = 0


class TeamChanger(Worker):
    """Renames the workspace and changes the member's role between viewer and editor, in turn."""

    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        client: Client,
        owner: Account,
        team: Team,
        pulse: Pulse,
    ) -> None:
        super().__init__(name, pause, problems)
        self._client, self._bearer, self._team, self._pulse = client, Bearer(owner), team, pulse
        self._number, self._wanted = 0, "viewer"

    def step(self) -> None:
        team, path = self._team, f"/api/workspaces/{self._team.identifier}"
        self._number += 1
        if self._number % 2:
            name = f"Team {self._number}"
            if self._change(path, {"name": name}, "name"):
                team.name = name
        else:
            role = self._wanted
            if self._change(f"{path}/members/{team.member}", {"role": role}, "role"):
                team.role, self._wanted = role, "editor" if role == "viewer" else "viewer"

    def _change(self, path: str, body: dict[str, str], field_name: str) -> bool:
        team = self._team
        team.tried += 1
        setattr(team, field_name, None)
        response = self._pulse.watch(lambda: self._bearer.call(self._client, "PATCH", path, body))
        if response is None:
            return False
        if response.status not in {200, *LATER}:
            self.problems.add(f"a change of the workspace got {response.status}: {response.body[:200]!r}")
        team.changes += response.status == 200
        return response.status == 200


class TeamChecker(Worker):
    """Reads the workspace's name on one host, and lets the member try to create a link there."""

    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        client: Client,
        owner: Account,
        member: Account,
        team: Team,
    ) -> None:
        super().__init__(name, pause, problems)
        self._client, self._team = client, team
        self._owner, self._member = Bearer(owner), Bearer(member)

    def step(self) -> None:
        team = self._team
        tried, name, role = team.tried, team.name, team.role
        try:
            if random.random() < 0.5:
                response = self._owner.call(self._client, "GET", f"/api/workspaces/{team.identifier}")
                if response is None or response.status != 200 or name is None or tried != team.tried:
                    return
                shown = response.json()["data"]["workspace"]["name"]
                if shown != name:
                    self.problems.add(f"{self.name}: the workspace is called {shown} after it became {name}")
            else:
                # Refused for its role before anything else.
                response = self._member.call(
                    self._client, "POST", "/api/urls", {"originalUrl": "https://example.com/team"},
                    X_Workspace=team.identifier,
                )  # fmt: skip
                if response is None or role is None or tried != team.tried:
                    return
                if (response.status, role) in {(201, "viewer"), (403, "editor")}:
                    self.problems.add(f"{self.name}: a member got {response.status} as {role}")
        except NO_ANSWER:
            return
