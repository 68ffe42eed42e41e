"""Logs: one line for each event, in JSON or in text. Nothing that strangers wrote can end or colour one."""

from __future__ import annotations

import json
import logging
import re
import time
from contextvars import ContextVar
from types import TracebackType

# Of the API request that is being answered; every line that is written meanwhile carries it.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

# C0 and C1 controls, DEL, and what Unicode takes for the end of a line.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}
_CONTROLS_WITHIN_LINES = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\n\t"}

# In these PostgreSQL quotes the row that it refuses: hashes of passwords, sealed keys, whatever was in it.
_DETAIL = re.compile(r"\bDETAIL: .*?(?=\n\n|\nHINT: |\nCONTEXT: |\Z)", re.DOTALL)

_ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class JSONFormatter(logging.Formatter):
    """Besides the message, the fields that are given as ``extra={"fields": {...}}``."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _without_details(record.getMessage()),
        }
        if identifier := request_id.get():
            line["request_id"] = identifier
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = _without_details(self.formatException(record.exc_info))
        # Escapes every control and non-ASCII character.
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 # logging's name for it
        fields = {**getattr(record, "fields", {}), "request_id": request_id.get()}
        words = [f"{name}={value}" for name, value in fields.items() if value is not None]
        return " ".join([_without_details(super().formatMessage(record)), *words]).translate(_CONTROLS)

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 # as above
        return _without_details(super().formatException(ei)).translate(_CONTROLS_WITHIN_LINES)


def _without_details(text: str) -> str:
    return _DETAIL.sub("DETAIL: left out", text)


class Discreet(logging.Filter):
    """gunicorn quotes requests that it cannot read, credentials and all, beside the address they came from."""

    def __init__(self, *, addresses: bool) -> None:
        super().__init__()
        self._addresses = addresses

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith("Invalid request from ip="):
            address = message.removeprefix("Invalid request from ip=").partition(": ")[0]
            record.msg = f"Invalid request from {address}" if self._addresses else "Invalid request"
            record.args = ()
        elif message.startswith("Error handling request "):
            record.msg, record.args = "Error handling a request", ()
        return True
