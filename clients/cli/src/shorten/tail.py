"""`tail`: events of the workspace as they come."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .api import Api
from .exits import Failed
from .fields import Json
from .files import whole_file
from .output import json_line, line, note, plain

_PAGE = 1000


def tail(
    type_: Annotated[
        list[str] | None, typer.Option("--type", help="Of the events; repeat it for more.")
    ] = None,
    collect: Annotated[bool, typer.Option(help="Let the service collect these types from now on.")] = False,
    from_start: Annotated[bool, typer.Option(help="Begin with the oldest event, not with now.")] = False,
    position: Annotated[
        Path | None,
        typer.Option(
            help="A file with the last position: the next run continues there, and no event is lost."
        ),
    ] = None,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between questions.")] = 2,
    once: Annotated[bool, typer.Option("--once", help="Stop when there are no more.")] = False,
    json: Json = False,
) -> None:
    """Print events as they come, by default clicks. With --json, an object in each line."""
    types = type_ or ["link.clicked"]
    api = Api()
    _see_that_they_are_collected(api, types, collect=collect)
    query: dict[str, Any] = {"types": ",".join(types), "limit": _PAGE}
    after = position.read_text().strip() if position is not None and position.exists() else None
    if after is None and not from_start:
        after = _now(api, query)
        _keep(position, after)
    while True:
        data = api.get("/api/events", after=after, **query)["data"]
        for event in data["events"]:
            if json:
                json_line(event)
            else:
                line(_sentence(event))
        after = data["next"]
        # Only after the lines: a lost position repeats events, and a lost event would be gone.
        _keep(position, after)
        if not data["events"]:
            if once:
                return
            time.sleep(every)


def _see_that_they_are_collected(api: Api, types: list[str], *, collect: bool) -> None:
    collected = api.get("/api/events/feed")["data"]["feed"]["types"]
    missing = [each for each in types if each not in collected]
    if not missing:
        return
    if not collect:
        raise Failed(f"The service does not collect {', '.join(missing)} yet: add --collect.")
    api.send("PUT", "/api/events/feed", {"types": [*collected, *missing]})
    note(f"The service collects {', '.join(missing)} from now on.")


def _now(api: Api, query: dict[str, Any]) -> str:
    """The position behind the newest event."""
    after = None
    while True:
        data = api.get("/api/events", after=after, **query)["data"]
        after = str(data["next"])
        if not data["events"]:
            return after


def _keep(position: Path | None, after: str) -> None:
    if position is not None:
        with whole_file(position, replace=True) as file:
            file.write(f"{after}\n".encode())


def _sentence(event: dict[str, Any]) -> str:
    data = event["data"]
    link = data.get("link") or {}
    details = [data.get(name) for name in ("country", "city", "device", "browser", "referrer")]
    known = [each for each in details if each and each != "unknown"]
    cells = [event["time"], event["type"], link.get("shortUrl") or data.get("code"), *known]
    return "\t".join(plain(each) for each in cells)
