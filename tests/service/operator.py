"""An operator's browser that talks to real processes."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from tests.service.running import Answer, Connection, Service


class Operator:
    """In a browser of few wits: cookies and forms."""

    def __init__(self, service: Service) -> None:
        self.port = service.port
        self.cookies: dict[str, str] = {}
        login = {"username": service.owner.email, "password": service.owner.password, "next": "/admin/"}
        self.send("/admin/login/", login)
        assert self.send("/admin/login/", login).status == 302

    def send(self, path: str, fields: dict[str, Any]) -> Answer:
        token = {"csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}
        body = urlencode({**token, **fields}) if self.cookies else None
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        with closing(Connection(self.port)) as connection:
            connection.request("POST" if body else "GET", path, body, headers)
            answer = connection.hear()
        for cookie in answer.headers.get_all("Set-Cookie", []):
            name, value = re.match(r"([^=]+)=([^;]*)", cookie).groups()  # type: ignore[union-attr]
            self.cookies[name] = value
        return answer
