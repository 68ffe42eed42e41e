"""Log formatters: one line per event, as JSON or text. They escape control characters, which could forge lines."""

from __future__ import annotations

import json
import logging
import re
import time
from types import TracebackType

from common.http.current_request import request_id, trace

# C0 and C1 control characters, DEL, and Unicode line separators.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}
_CONTROLS_WITHIN_LINES = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\n\t"}

# PostgreSQL quotes the rejected row here. The row may contain password hashes, sealed keys or other secrets.
_DETAIL = re.compile(r"\bDETAIL: .*?(?=\n\n|\nHINT: |\nCONTEXT: |\Z)", re.DOTALL)

# Whoever has such a path can use it as long as its request has not succeeded.
_PATH_WITH_TOKEN = re.compile(r"(/(?:invitations|signup/confirm|password/reset/key)/)[^/\s]+")

_ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class JSONFormatter(logging.Formatter):
    """Adds the fields from ``extra={"fields": {...}}``."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _redact_details(record.getMessage()),
        }
        if identifier := request_id.get():
            line["request_id"] = identifier
        if current := trace.get():
            line["trace_id"] = current.trace_id
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = _redact_details(self.formatException(record.exc_info))
        # json.dumps escapes every control and non-ASCII character.
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 # overrides a method of logging
        current = trace.get()
        names = {"request_id": request_id.get(), "trace_id": current and current.trace_id}
        fields = {**getattr(record, "fields", {}), **names}
        words = [f"{name}={value}" for name, value in fields.items() if value is not None]
        return " ".join([_redact_details(super().formatMessage(record)), *words]).translate(_CONTROLS)

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 # as above
        return _redact_details(super().formatException(ei)).translate(_CONTROLS_WITHIN_LINES)


def _redact_details(text: str) -> str:
    return _DETAIL.sub("DETAIL: removed", text)


class RedactingFilter(logging.Filter):
    """Removes tokens in paths, and credentials and addresses in gunicorn's messages about requests it cannot parse."""

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
        elif _PATH_WITH_TOKEN.search(message):
            record.msg, record.args = _PATH_WITH_TOKEN.sub(r"\1…", message), ()
        return True
