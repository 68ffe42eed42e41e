"""Where the service is and who calls it, from arguments or the environment."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TypedDict, Unpack
from urllib.parse import urlsplit

from .errors import ConfigurationError


class Options(TypedDict, total=False):
    """What a client takes by name. ``retries`` and ``longest_wait``: see `Settings`. ``user_agent``: of the program,
    such as ``my-program/1.2``; that of the client follows it.
    """

    token: str | None
    workspace: str | None
    retries: int
    longest_wait: float
    user_agent: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """``retries`` counts the attempts after the first. ``longest_wait``: seconds; a `Retry-After` beyond it is an
    error at once.
    """

    base_url: str
    user_agent: str
    api_key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    workspace: str | None = None
    retries: int = 3
    longest_wait: float = 60


def settings_from(
    base_url: str | None, api_key: str | None, client: str, **options: Unpack[Options]
) -> Settings:
    """Arguments come first, then ``SHORTENER_URL``, ``SHORTENER_API_KEY`` and ``SHORTENER_WORKSPACE``.

    With a ``token``, the key of the environment is not used. ``client``: its user agent.
    """
    address = (base_url or os.environ.get("SHORTENER_URL", "")).rstrip("/")
    if not address:
        raise ConfigurationError("No service is named: pass base_url, or set SHORTENER_URL.")
    parts = urlsplit(address)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.username
        or parts.query
        or parts.fragment
    ):
        raise ConfigurationError(
            "The address of the service must be like https://example.com, without credentials."
        )
    token = options.get("token")
    key = api_key or (None if token else os.environ.get("SHORTENER_API_KEY"))
    for credential in (key, token):
        if credential is not None and not re.fullmatch("[!-~]+", credential):
            raise ConfigurationError("A credential has characters that no header can have.")
    program = options.get("user_agent")
    return Settings(
        base_url=address,
        user_agent=f"{program} {client}" if program else client,
        api_key=key,
        token=token,
        workspace=options.get("workspace") or os.environ.get("SHORTENER_WORKSPACE") or None,
        retries=options.get("retries", 3),
        longest_wait=options.get("longest_wait", 60),
    )
