"""Stored events, read without waiting for other transactions."""

from __future__ import annotations

from typing import Any

from django.db import connection

from accounts.models import Workspace
from common.database import execute, fetch
from events.feed import collect
from events.outbox import shown_data
from events.types import EventType


def listen(*workspaces: Workspace, types: list[str] | None = None) -> None:
    for workspace in workspaces:
        collect(workspace, EventType.values if types is None else types)


def stored(workspace: Workspace) -> list[tuple[str, dict[str, Any]]]:
    """Types and data of the workspace's events, in their order, without waiting for other transactions."""
    query = "SELECT type, data FROM events_event WHERE workspace_id = %s ORDER BY position, id"
    return [
        (of_type, shown_data(data) if of_type == EventType.LINK_CLICKED else data)
        for of_type, data in fetch(query, [workspace.pk])
    ]


def stored_types(workspace: Workspace) -> list[str]:
    return [of_type for of_type, _ in stored(workspace)]


def forget_events() -> None:
    execute("DELETE FROM events_event")


def pass_time(interval: str, *, most: int = 100) -> bool:
    """Let the clock emit what is due after this interval. Returns whether more is due."""
    [(is_more,)] = fetch("SELECT events_tick(%s, clock_timestamp() + %s::interval)", [most, interval])
    return bool(is_more)


def commit_checks() -> None:
    """Run the triggers that a commit would run."""
    connection.check_constraints()


def reset_clock() -> None:
    """As if it had just ticked."""
    execute("UPDATE events_clock SET reached = clock_timestamp(), link_id = 9223372036854775807")
