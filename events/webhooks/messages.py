"""Writes the request that an endpoint gets, in its format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from common.rest.fields import iso_utc
from events.types import EventType
from events.webhooks.models import Format
from events.webhooks.sentences import sentences

JSON_HEADERS = {"content-type": "application/json"}
# Discord refuses longer texts, and nobody reads them elsewhere.
_MOST_CHARACTERS = 1900
_SLACK = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Plain addresses stay as they are, so that readers can follow them.
_MARKDOWN = re.compile(r"(https?://[\w./:-]+)|([\\`*_{}\[\]()#+!|>~<-])", re.ASCII)


class Occurred(NamedTuple):
    """An event as messages have it. ``workspace`` is the API id."""

    id: UUID
    type: str
    time: datetime
    workspace: UUID
    data: dict[str, Any]


def body_of(of_format: Format, message: UUID, events: Sequence[Occurred]) -> bytes:
    """The body of a message with these events, in their order. Mails have none: see `text_of`."""
    if of_format is Format.STANDARD:
        return orjson.dumps(_standard(message, events))
    lines = _lines(events)
    if of_format is Format.SLACK:
        text = "\n".join(_escaped_for_slack(line) for line in lines)
        return orjson.dumps({"text": text, "unfurl_links": False})
    if of_format is Format.DISCORD:
        text = "\n".join(_escaped_markdown(line) for line in lines)
        # Otherwise the title of a link could call everybody.
        return orjson.dumps({"content": text, "allowed_mentions": {"parse": []}})
    return orjson.dumps(_adaptive_card(lines))


def text_of(events: Sequence[Occurred]) -> str:
    """The events as lines for people, in the current language."""
    return "\n".join(sentences(events))


def _standard(message: UUID, events: Sequence[Occurred]) -> dict[str, Any]:
    last = events[-1]
    return {
        "id": message,
        "type": last.type,
        "timestamp": iso_utc(last.time),
        "workspaceId": last.workspace,
        "data": {"clicks": [event.data for event in events]}
        if last.type == EventType.LINK_CLICKED
        else last.data,
    }


def _lines(events: Sequence[Occurred]) -> list[str]:
    lines: list[str] = []
    left = _MOST_CHARACTERS
    for at, line in enumerate(written := sentences(events)):
        # Escaping at most doubles a text.
        left -= 2 * len(line) + 1
        if left < 0 and lines:
            return [*lines, f"… {len(written) - at}"]
        lines.append(line[: _MOST_CHARACTERS // 2])
    return lines


def _escaped_for_slack(line: str) -> str:
    return "".join(_SLACK.get(character, character) for character in line)


def _escaped_markdown(line: str) -> str:
    return _MARKDOWN.sub(lambda match: match[1] or f"\\{match[2]}", line)


def _adaptive_card(lines: Sequence[str]) -> dict[str, Any]:
    """What the workflow "When a Teams webhook request is received" posts."""
    blocks = [{"type": "TextBlock", "text": _escaped_markdown(line), "wrap": True} for line in lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}
