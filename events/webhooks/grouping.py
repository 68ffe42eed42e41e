"""Which events share a message, so that a busy workspace does not flood its receivers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from events.types import EventType
from events.webhooks.models import CursorKind, Format


class Grouping(NamedTuple):
    """A message has at most ``size`` events. Between two of these messages is at least ``interval``."""

    size: int
    interval: timedelta
    only_clicks: bool = False

    def groups(self, event_type: str) -> bool:
        return not self.only_clicks or event_type == EventType.LINK_CLICKED


GROUPINGS: Mapping[Format, Grouping] = {
    Format.STANDARD: Grouping(100, timedelta(seconds=1), only_clicks=True),
    # People read these, and chats refuse more than about a message a second.
    **dict.fromkeys((Format.SLACK, Format.DISCORD, Format.TEAMS), Grouping(20, timedelta(seconds=1))),
    Format.MAIL: Grouping(100, timedelta(minutes=10)),
}


def grouping_of(of_format: str, cursor: str) -> Grouping | None:
    """How the events of a cursor are grouped. None: each has a message of its own."""
    grouping = GROUPINGS[Format(of_format)]
    return None if grouping.only_clicks and cursor == CursorKind.CHANGES else grouping
