"""Starts the provider."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from testing.polling import DEADLINE

PROJECT = Path(__file__).parents[3]


class Provider:
    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    def say(self, **claims: Any) -> None:
        """Make these the provider's claims about the person, besides ``sub``."""
        self._set("claims", claims)

    def behave(self, **manners: Any) -> None:
        """Give the provider these of `testing.sign_in.oidc.manners`. With none, it is honest."""
        self._set("manners", manners)

    def _set(self, what: str, values: dict[str, Any]) -> None:
        url = f"{self.issuer.rstrip('/').removesuffix('/o')}/{what}"
        request = Request(url, json.dumps(values).encode())  # noqa: S310 # of this machine
        urlopen(request, timeout=DEADLINE).close()  # noqa: S310 # likewise


@contextmanager
def provider(redirect_uri: str, *, path: str = "/o") -> Iterator[Provider]:
    """``path`` of its issuer: "/o" or "/o/"."""
    command = [sys.executable, "-m", "testing.sign_in.oidc.server", redirect_uri, path]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            issuer = process.stdout.readline().strip()
            assert issuer, "the provider did not start"
            yield Provider(issuer)
        finally:
            process.kill()
