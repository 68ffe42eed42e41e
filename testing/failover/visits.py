"""Visitors of plain, capped and password-protected links, who keep a log of every click."""

from __future__ import annotations

import random
import re
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlencode

from testing.failover.client import NO_ANSWER, Client, outcome_of
from testing.failover.workers import Problems, Pulse, Worker
from testing.proof.verdict import ADDRESS, Log
from testing.service.connection import Response

PASSWORD = "open sesame"  # of links that the load creates
_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="(\w+)"')


@dataclass
class Links:
    """What there is to follow. ``keys`` are the links' primary keys by code; ``caps`` the limits of capped ones."""

    plain: list[str] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    # Those that have clicks left, as far as the visitors know.
    open: list[str] = field(default_factory=list)
    caps: dict[str, int] = field(default_factory=dict)


class Clicks:
    """The visitors' own log: which code each request was for, and which of them got a redirect, and when."""

    def __init__(self) -> None:
        self.log = Log()
        self.codes: dict[str, str] = {}
        self.redirects: Counter[str] = Counter()
        self.moments: dict[str, float] = {}
        self._lock = threading.Lock()

    def follow(self, client: Client, code: str, **headers: str) -> Response:
        """GET, as a click of its own. Raises NO_ANSWER."""
        identity = str(uuid.uuid4())
        self.codes[identity] = code
        response = client.call("GET", f"/{code}", Referer=ADDRESS + identity, **headers)
        with self._lock:
            if response.status in {301, 302}:
                self.log.redirected.add(identity)
                self.redirects[code] += 1
                self.moments[identity] = time.monotonic()
            elif response.status == 410:
                self.log.refused.add(identity)
        return response


class Visitor(Worker):
    """Follows plain links, which must always lead on, whatever fails."""

    def __init__(
        self,
        name: str,
        pause: float,
        problems: Problems,
        *,
        client: Client,
        links: Links,
        clicks: Clicks,
        pulse: Pulse,
    ) -> None:
        super().__init__(name, pause, problems)
        self.client, self.links, self.clicks, self.pulse = client, links, clicks, pulse

    def step(self) -> None:
        code = random.choice(self.links.plain)
        response = self.pulse.watch(lambda: self.clicks.follow(self.client, code))
        if response is not None and response.status not in {302, 502, 503, 504}:
            self.problems.add(f"a plain link got {response.status}")


class CappedVisitor(Visitor):
    """Follows links with a limit until it is reached, the oldest ones first: a short run, too, reaches some."""

    AT_ONCE = 2

    def step(self) -> None:
        if not self.links.open:
            return
        code = random.choice(self.links.open[: self.AT_ONCE])
        response = self.pulse.watch(lambda: self.clicks.follow(self.client, code), accepted=410)
        if response is None:
            return
        if response.status == 410 and code in self.links.open:
            self.links.open.remove(code)
        elif response.status not in {302, 410, 502, 503, 504}:
            self.problems.add(f"a capped link got {response.status}")


class PasswordVisitor(Visitor):
    """Enters the password of a link, after a wrong one, and follows it some times with the cookie."""

    VISITS = 30

    def step(self) -> None:
        code = random.choice(self.links.protected)
        began = time.monotonic()
        try:
            cookie = self._unlock(code)
            for _ in range(self.VISITS):
                if cookie is None or self._stopped.wait(self._pause):
                    return
                began = time.monotonic()
                response = self.clicks.follow(self.client, code, Cookie=cookie)
                self.pulse.note(began, outcome_of(response))
                if response.status not in {302, 502, 503, 504}:
                    self.problems.add(f"a link with a password got {response.status} after it was entered")
        except NO_ANSWER as error:
            self.pulse.note(began, type(error).__name__)

    def _unlock(self, code: str) -> str | None:
        """The cookies of a browser that has entered the right password, or None without success."""
        page = self.client.call("GET", f"/{code}", Accept="text/html")
        token = _TOKEN.search(page.body)
        if page.status == 302:
            self.problems.add("a link with a password led on without it")
        if page.status != 401 or token is None:
            return None
        cookies = _cookies(page)
        fields = {"csrfmiddlewaretoken": token[1].decode()}
        for password in ("wrong", PASSWORD):
            answer = self._post(code, cookies, {**fields, "password": password})
            if password == "wrong" and answer.status in {302, 303}:  # not a secret
                self.problems.add("a wrong password was accepted")
        if answer.status != 303:
            return None
        return _header(cookies | _cookies(answer))

    def _post(self, code: str, cookies: dict[str, str], fields: dict[str, str]) -> Response:
        headers = {
            "Host": "sho.test",
            "Cookie": _header(cookies),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            self.client.request("POST", f"/{code}", urlencode(fields), headers)
            return self.client.receive()
        except NO_ANSWER:
            self.client.close()
            raise


def _cookies(response: Response) -> dict[str, str]:
    pairs = (header.partition(";")[0].partition("=") for header in response.headers.get_all("Set-Cookie", []))
    return {name: value for name, _, value in pairs}


def _header(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
