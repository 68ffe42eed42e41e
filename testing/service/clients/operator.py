"""An operator's browser that talks to real processes."""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from testing.service.running import Connection, Response, Service


class Operator:
    """A minimal browser with cookies and forms, logged in to the admin."""

    def __init__(self, service: Service) -> None:
        self.port = service.port
        self.cookies: dict[str, str] = {}
        login = {"login": service.owner.email, "password": service.owner.password, "next": "/admin/"}
        self.send("/accounts/login/", login)
        assert self.send("/accounts/login/", login).status == 302

    def send(self, path: str, fields: dict[str, Any]) -> Response:
        token = {"csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}
        body = urlencode({**token, **fields}) if self.cookies else None
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        with closing(Connection(self.port)) as connection:
            connection.request("POST" if body else "GET", path, body, headers)
            response = connection.receive()
        for cookie in response.headers.get_all("Set-Cookie", []):
            name, value = re.match(r"([^=]+)=([^;]*)", cookie).groups()
            self.cookies[name] = value
        return response
