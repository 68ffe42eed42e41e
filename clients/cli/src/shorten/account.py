"""`login`, `logout` and `config`: which service, which key, which workspace."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from . import configuration
from .api import Api
from .client.errors import ApiError
from .exits import USAGE, Failed
from .fields import Json, secret
from .output import json_text, line, note, properties

_SCOPE_ERRORS = {"scope_required", "key_limited"}


def login(
    url: Annotated[
        str | None, typer.Argument(help="The address of the service, such as https://go.example.com.")
    ] = None,
) -> None:
    """Store the address of a service and an API key. The key is asked for, or read from stdin."""
    stored = configuration.stored()
    address = url or stored.url
    if address is None and sys.stdin.isatty():
        address = typer.prompt("Address of the service", err=True)
    if address is None:
        raise Failed("Name the service: shorten login https://…", USAGE)
    key = secret("API key").strip()
    api = Api(address, key)
    try:
        api.get("/api/urls", limit=1)
    except ApiError as error:
        # A key may be good for something else than reading links.
        if error.code not in _SCOPE_ERRORS:
            raise
    # A workspace of another service means nothing here.
    workspace = stored.workspace if address == stored.url else None
    configuration.store(configuration.Configuration(api.transport.settings.base_url, key, workspace))
    note(f"The key works. It is stored in {configuration.path()}.")


def logout() -> None:
    """Forget the stored key. It stays valid: delete it in the dashboard if nobody else uses it."""
    stored = configuration.stored()
    stored.key = None
    configuration.store(stored)


def config(
    name: Annotated[
        str | None, typer.Argument(help="url or workspace, to print or change only this.")
    ] = None,
    value: Annotated[str | None, typer.Argument(help="The new value; empty: none.")] = None,
    json: Json = False,
) -> None:
    """Show the configuration and where each value comes from, or change a value."""
    if name is None:
        used = {**configuration.in_use()}
        used["key"] = (configuration.masked(used["key"][0]), used["key"][1])
        if json:
            json_text({key: {"value": value, "from": source} for key, (value, source) in used.items()})
        else:
            properties(
                {key: f"{value}  ({source})" if value else "-" for key, (value, source) in used.items()}
            )
        return
    if name not in {"url", "workspace"}:
        raise Failed(
            "Only url and workspace can be read and changed here; `shorten login` sets the key.", USAGE
        )
    if value is None:
        line(configuration.in_use()[name][0] or "")
        return
    stored = configuration.stored()
    if name == "url" and value != stored.url:
        # The key belongs to the other service, which this one must not get.
        stored.key = None
    setattr(stored, name, value or None)
    configuration.store(stored)
