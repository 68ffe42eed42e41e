"""`apply`: links as a file says. It compares, shows a plan, and changes only what differs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import yaml

from .api import Api, Link, is_unknown, path_of
from .client.body import headers_of
from .client.errors import ApiError
from .exits import PARTLY, USAGE, Failed
from .fields import Json
from .output import json_text, line, note, plain, progress

_UPSERT = "/api/urls/upsert"
_EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True)
class Step:
    """What happens to one link. ``etag`` is of the version with which it was compared."""

    action: Literal["create", "update", "keep"]
    wanted: Link
    changes: dict[str, tuple[Any, Any]]
    etag: str | None = None

    @property
    def name(self) -> str:
        return str(self.wanted["externalId"])


def apply(
    file: Annotated[
        Path,
        typer.Argument(help="YAML: `links`, each with externalId, originalUrl and any field of the API."),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Create and change links as a file says. Shows the plan first. Links that are not in the file stay."""
    wanted = links_of(file)
    api = Api()
    plan = []
    with progress("Comparing", len(wanted)) as bar:
        for link in wanted:
            plan.append(step_for(api, link))
            bar.advance(bar.task_ids[0])
    changing = [step for step in plan if step.action != "keep"]
    if json:
        json_text([_described(step) for step in plan])
    else:
        _show(plan)
    if not changing or not _may_change(yes=yes, count=len(changing)):
        return
    failed = 0
    with progress("Applying", len(changing)) as bar:
        for step in changing:
            try:
                _perform(api, step)
            except ApiError as error:
                failed += 1
                note(f"{step.name}: {error}")
            bar.advance(bar.task_ids[0])
    if failed:
        raise Failed(f"{failed} of {len(changing)} changes failed; the others are made.", PARTLY)
    note(f"{len(changing)} changed.")


def links_of(file: Path) -> list[Link]:
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failed(f"{file}: {error.strerror}.", USAGE) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Failed(f"{file} is no YAML: {error}", USAGE) from None
    links = document.get("links") if isinstance(document, dict) else None
    if not isinstance(links, list) or set(document) != {"links"}:
        raise Failed(f"{file}: expected one list with the name `links`.", USAGE)
    seen: set[str] = set()
    for number, link in enumerate(links, 1):
        name = link.get("externalId") if isinstance(link, dict) else None
        if (
            not isinstance(name, str)
            or not name
            or "/" in name
            or not isinstance(link.get("originalUrl"), str)
        ):
            raise Failed(
                f"{file}: link {number} needs an externalId, a text without a slash, and an originalUrl.",
                USAGE,
            )
        if name in seen:
            raise Failed(f"{file}: the externalId {name} is there twice.", USAGE)
        seen.add(name)
    return [_in_json(link) for link in links]


def step_for(api: Api, wanted: Link) -> Step:
    try:
        answer = api.get(path_of(f"ext_{wanted['externalId']}"))
    except ApiError as error:
        if not is_unknown(error):
            raise
        return Step("create", wanted, {name: (None, value) for name, value in wanted.items()})
    changes = differences(wanted, answer["data"]["url"])
    return Step("update" if changes else "keep", wanted, changes, headers_of(answer).get("ETag"))


def differences(wanted: Link, current: Link) -> dict[str, tuple[Any, Any]]:
    """The fields of ``wanted`` that differ, each with its value before and after.

    The link may lead somewhere else than to its first destination, which never changes: another `originalUrl` becomes
    the target. A password is never shown, so it is set only when a link is created.
    """
    comparable = {**current, "originalUrl": current["targetUrl"] or current["originalUrl"]}
    if "targetUrl" in wanted:
        comparable["originalUrl"] = current["originalUrl"]
    return {
        name: (comparable.get(name), value)
        for name, value in wanted.items()
        if name != "password" and not same(value, comparable.get(name))
    }


def same(wanted: Any, current: Any) -> bool:
    """Whether both mean the same to the service: null and empty, times in any spelling, defaults that it adds."""
    if wanted in _EMPTY or current in _EMPTY:
        return wanted in _EMPTY and current in _EMPTY
    if isinstance(wanted, dict) and isinstance(current, dict):
        # The service adds an id, and what is off, to each rule and each entry of a split.
        added = {name: value for name, value in current.items() if name not in wanted and name != "_id"}
        return all(same(value, current.get(name)) for name, value in wanted.items()) and not any(
            added.values()
        )
    if isinstance(wanted, list) and isinstance(current, list):
        return len(wanted) == len(current) and all(map(same, wanted, current))
    if isinstance(wanted, str) and isinstance(current, str):
        moment = _moment(current)
        return wanted == current or (moment is not None and moment == _moment(wanted))
    return bool(wanted == current) and isinstance(wanted, bool) == isinstance(current, bool)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _in_json(value: Any) -> Any:
    """YAML reads times as such; JSON has texts."""
    if isinstance(value, dict):
        return {str(name): _in_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_in_json(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def _may_change(*, yes: bool, count: int) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        note("Nothing was changed: pass --yes.")
        return False
    return typer.confirm(f"Make {count} change{'s' * (count > 1)}?", err=True)


def _perform(api: Api, step: Step) -> None:
    """Exactly the plan: refused if the link has been created or changed since."""
    if step.action == "create":
        api.send("PUT", _UPSERT, step.wanted, headers={"If-None-Match": "*"})
        return
    body = {
        name: step.wanted[name]
        for name in {"externalId", "originalUrl", *step.changes}
        if name in step.wanted
    }
    api.send("PUT", _UPSERT, body, headers={"If-Match": step.etag})


def _described(step: Step) -> dict[str, Any]:
    changes = {name: {"from": before, "to": after} for name, (before, after) in _shown(step).items()}
    return {"externalId": step.name, "action": step.action, "changes": changes}


def _show(plan: list[Step]) -> None:
    signs = {"create": "+", "update": "~", "keep": "="}
    for step in plan:
        if step.action != "keep":
            line(f"{signs[step.action]} {plain(step.name)}")
        for name, (before, after) in _shown(step).items():
            shown = (
                plain(after)
                if step.action == "create"
                else f"{plain(before) or 'none'} -> {plain(after) or 'none'}"
            )
            line(f"    {name}: {shown}")
    count = {action: sum(step.action == action for step in plan) for action in signs}
    line(f"{count['create']} to create, {count['update']} to change, {count['keep']} as they are.")


def _shown(step: Step) -> dict[str, tuple[Any, Any]]:
    return {
        name: (before, "(hidden)" if name == "password" else after)
        for name, (before, after) in step.changes.items()
        if name != "externalId"
    }
