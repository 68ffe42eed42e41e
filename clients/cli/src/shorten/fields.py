"""The options that set fields of a link, and the body of a request that they make."""

from __future__ import annotations

import getpass
import json
import re
import sys
from typing import Annotated, Any

import typer

from .exits import USAGE, Failed

Code = Annotated[str | None, typer.Option("--code", help="The custom code.")]
Title = Annotated[str | None, typer.Option(help="The title.")]
Description = Annotated[str | None, typer.Option(help="The description.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; repeat it for more.")]
Expires = Annotated[str | None, typer.Option(help="When it ends, such as 2031-01-01. Empty: never.")]
MaxClicks = Annotated[int | None, typer.Option(min=1, help="How often it can be followed.")]
ExternalId = Annotated[str | None, typer.Option(help="Your own id of the link.")]
Password = Annotated[bool, typer.Option("--password", help="Ask for a password, or read it from stdin.")]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", "-f", metavar="NAME=VALUE", help="Any field of the API; the value is JSON or a text."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print what the service answers, as JSON.")]


def body_of(
    *,
    code: str | None = None,
    title: str | None = None,
    description: str | None = None,
    tags: list[str] | None = None,
    expires: str | None = None,
    max_clicks: int | None = None,
    external_id: str | None = None,
    password: bool = False,
    fields: list[str] | None = None,
) -> dict[str, Any]:
    """Only what was given. An empty text clears a field, and a single empty tag all tags."""
    texts = {
        "customCode": code,
        "title": title,
        "description": description,
        "expiresAt": expires,
        "externalId": external_id,
    }
    body: dict[str, Any] = {name: value or None for name, value in texts.items() if value is not None}
    if tags:
        body["tags"] = [] if tags == [""] else tags
    if max_clicks is not None:
        body["restrictions"] = {"maxClicks": max_clicks}
    if password:
        body["password"] = secret("Password of the link")
    for field in fields or []:
        name, equals, value = field.partition("=")
        if not equals or not name:
            raise Failed(f"--field {field}: expected NAME=VALUE.", USAGE)
        body[name] = _value(value)
    return body


def tags_text(tags: list[str] | None) -> str | None:
    """The parameter that filters by tags: in a tag, a backslash marks a comma."""
    return ",".join(re.sub(r"[\\,]", r"\\\g<0>", tag) for tag in tags) if tags else None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def secret(question: str) -> str:
    """From a hidden prompt, or the first line of stdin. Never from an argument, which other users can see."""
    text = getpass.getpass(f"{question}: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not text.strip():
        raise Failed("Nothing was entered.", USAGE)
    return text.strip("\r\n")
