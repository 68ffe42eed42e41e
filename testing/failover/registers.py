"""Clients that read, write and compare-and-set the titles of links, and the history of what each of them saw."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from math import inf

from testing.failover.client import NO_ANSWER, Client
from testing.failover.history import Operation
from testing.failover.workers import Problems, Worker

# Then the clients go on with another link: each history is judged as a whole.
OPERATIONS_OF_ONE = 400
INITIAL = "initial"


@dataclass
class Register:
    identifier: str
    history: list[Operation] = field(default_factory=list)


class Registers:
    """``create`` returns the id of a new link whose title is INITIAL, or None if that fails for now."""

    def __init__(self, create: Callable[[], str | None]) -> None:
        self.all: list[Register] = []
        self._create = create
        self._lock = threading.Lock()
        self._numbers = count(1)

    def current(self) -> Register | None:
        with self._lock:
            if not self.all or len(self.all[-1].history) >= OPERATIONS_OF_ONE:
                identifier = self._create()
                if identifier is not None:
                    self.all.append(Register(identifier))
            return self.all[-1] if self.all else None

    def value(self) -> str:
        """A title that no other operation writes."""
        return f"value {next(self._numbers)}"


class RegisterClient(Worker):
    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        clients: Sequence[Client],
        key: str,
        registers: Registers,
    ) -> None:
        super().__init__(name, pause, problems)
        self._clients, self._key, self._registers = clients, key, registers

    def step(self) -> None:
        register = self._registers.current()
        if register is None:
            return
        client = random.choice(self._clients)
        match random.choice(["read", "read", "write", "cas"]):
            case "read":
                self._read(client, register)
            case "write":
                self._put(client, register, "write", None, {})
            case _:
                read = self._read(client, register)
                if read is not None:
                    # Somebody may change the link meanwhile, and another host may be asked.
                    other = random.choice(self._clients)
                    self._put(other, register, "cas", read[0], {"If_Match": read[1]})

    def _read(self, client: Client, register: Register) -> tuple[str, str] | None:
        """The value, and the tag of the link's version."""
        began = time.monotonic()
        try:
            response = client.call("GET", f"/api/urls/{register.identifier}", X_API_Key=self._key)
        except NO_ANSWER:
            return None
        if response.status != 200:
            if response.status not in {502, 503, 504}:
                self.problems.add(f"reading a link got {response.status}")
            return None
        value = response.json()["data"]["url"]["title"]
        register.history.append(Operation("read", began, time.monotonic(), value))
        return value, response.headers["ETag"]

    def _put(
        self, client: Client, register: Register, kind: str, expected: str | None, headers: dict[str, str]
    ) -> None:
        value, began, status = self._registers.value(), time.monotonic(), 0
        with suppress(*NO_ANSWER):
            status = client.call(
                "PUT", f"/api/urls/{register.identifier}", {"title": value}, X_API_Key=self._key, **headers
            ).status
        is_known = status in {200, 412}
        register.history.append(
            Operation(
                kind, began, time.monotonic() if is_known else inf, value, expected, is_refused=status == 412
            )
        )
        if status not in {0, 200, 412, 409, 500, 502, 503, 504}:
            self.problems.add(f"a {kind} got {status}")
