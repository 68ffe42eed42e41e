from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import IntegrityError, connection

from common.repeated_lines import REPEATED, RepeatedLines
from shortener_project.running.logs import JSONFormatter, RedactingFilter, TextFormatter, request_id
from testing.polling import eventually

REPOSITORY = Path(__file__).parents[3]

HOSTILE = (
    "a\nb\r\n2026-11-21 12:00:00,000 ERROR root: forged \x1b[31mred\x1b[0m \x00 \x7f \x9b31m \u2028 \u202e"
)


def record(message: str, *args: object, **more: object) -> logging.LogRecord:
    entry = logging.LogRecord("a.logger", logging.WARNING, __file__, 1, message, args, None)
    entry.__dict__ |= more
    return entry


@pytest.mark.parametrize("formatter", [JSONFormatter(), TextFormatter()], ids=["json", "text"])
def test_control_characters_in_messages_are_escaped(formatter: logging.Formatter) -> None:
    token = request_id.set("0123456789")
    line = formatter.format(record("From %s.", HOSTILE, fields={"route": HOSTILE}))
    request_id.reset(token)
    assert line.splitlines() == [line]
    assert [character for character in line if ord(character) < 32 or 127 <= ord(character) < 160] == []


def test_json_line_is_one_object() -> None:
    entry = record("From %s.", HOSTILE, fields={"status": 404}, created=1_800_000_000.25, msecs=250.0)
    assert json.loads(JSONFormatter().format(entry)) == {
        "time": "2027-01-15T08:00:00.250Z",
        "level": "WARNING",
        "logger": "a.logger",
        "message": f"From {HOSTILE}.",
        "status": 404,
    }


def test_text_line_ends_with_the_fields() -> None:
    line = TextFormatter().format(record("API request", fields={"status": 404, "route": "/api/urls"}))
    assert line.endswith(" WARNING a.logger: API request status=404 route=/api/urls")


@pytest.mark.parametrize("formatter", [JSONFormatter(), TextFormatter()], ids=["json", "text"])
def test_row_details_in_database_errors_are_removed(formatter: logging.Formatter, db: None) -> None:
    with pytest.raises(IntegrityError, match="hunter2") as raised, connection.cursor() as cursor:
        cursor.execute("INSERT INTO accounts_user (email, password) VALUES ('x', 'argon2$hunter2')")
    entry = record("Refused: %s", raised.value, exc_info=(raised.type, raised.value, raised.tb))
    text = formatter.format(entry)
    assert "hunter2" not in text.replace("VALUES ('x', 'argon2$hunter2')", "")
    assert "null value in column" in text


@pytest.mark.parametrize(
    ("addresses", "expected"), [(False, "Invalid request"), (True, "Invalid request from 192.0.2.7")]
)
def test_unreadable_requests_are_not_quoted_in_the_log(addresses: bool, expected: str) -> None:
    entry = record("Invalid request from ip=192.0.2.7: Invalid HTTP Header: 'X-API-Key: sl_live_abc'")
    assert RedactingFilter(addresses=addresses).filter(entry) is True
    assert entry.getMessage() == expected


def test_gunicorn_error_message_omits_the_request() -> None:
    entry = record("Error handling request %s %s", "GET", "/api/urls?key=sl_live_abc")
    RedactingFilter(addresses=True).filter(entry)
    assert entry.getMessage() == "Error handling a request"


@pytest.fixture
def repeating() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger with the service's filter and formatter, and what it has written."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s %(fields)s", defaults={"fields": ""}))
    handler.addFilter(RepeatedLines())
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    # The handler of the settings has a filter of its own.
    logger.propagate = False
    yield logger, written
    logger.propagate = True
    logger.removeHandler(handler)


def test_a_line_of_each_503_is_logged_once_and_then_counted(
    repeating: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, written = repeating
    for number in range(1000):
        logger.error("%s: %s", "Service Unavailable", f"/{number}", extra={"status_code": 503})
    assert written.getvalue() == "ERROR Service Unavailable: /0 \n"
    eventually(lambda: written.getvalue().count("\n") == 2)
    assert written.getvalue().splitlines()[1] == "ERROR Service Unavailable: /999 {'count': 999}"


def test_other_errors_of_requests_are_logged_each(repeating: tuple[logging.Logger, io.StringIO]) -> None:
    logger, written = repeating
    for number in range(10):
        logger.error("%s: %s", "Internal Server Error", f"/{number}", extra={"status_code": 500})
    assert written.getvalue().count("\n") == 10


def test_marked_lines_are_counted_separately_for_each_exception(
    repeating: tuple[logging.Logger, io.StringIO],
) -> None:
    logger, written = repeating
    for error in (ValueError("a"), KeyError("b"), ValueError("c")):
        try:
            raise error
        except Exception:
            logger.exception("Failed", extra=REPEATED)
    assert [line for line in written.getvalue().splitlines() if "Error: " in line] == [
        "ValueError: a",
        "KeyError: 'b'",
    ]
    eventually(lambda: written.getvalue().endswith("ERROR Failed {'count': 1}\n"))


def test_a_process_that_ends_logs_what_it_has_counted() -> None:
    program = """
import logging
from common.repeated_lines import REPEATED, RepeatedLines
handler = logging.StreamHandler()
handler.addFilter(RepeatedLines())
logging.getLogger().addHandler(handler)
for _ in range(3):
    logging.error("Failed", extra=REPEATED)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stderr == "Failed\nFailed\n"


@pytest.mark.parametrize(
    "path",
    ["/accounts/invitations/{}/", "/accounts/signup/confirm/{}/", "/api/invitations/{}/accept"],
)
def test_tokens_in_paths_are_removed(path: str) -> None:
    secret = "Zm9v.ImdyYWNl:1x:y-z_0"
    entry = record("Service Unavailable: %s", path.format(secret))
    assert RedactingFilter(addresses=True).filter(entry) is True
    assert entry.getMessage() == f"Service Unavailable: {path.format('…')}"
