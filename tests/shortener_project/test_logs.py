from __future__ import annotations

import json
import logging

import pytest
from django.db import IntegrityError, connection

from shortener_project.logs import Discreet, JSONFormatter, TextFormatter, request_id

HOSTILE = (
    "a\nb\r\n2026-11-21 12:00:00,000 ERROR root: forged \x1b[31mred\x1b[0m \x00 \x7f \x9b31m \u2028 \u202e"
)


def record(message: str, *args: object, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("a.logger", logging.WARNING, __file__, 1, message, args, None)
    made.__dict__ |= more
    return made


@pytest.mark.parametrize("formatter", [JSONFormatter(), TextFormatter()], ids=["json", "text"])
def test_what_strangers_wrote_neither_ends_a_line_nor_colours_it(formatter: logging.Formatter) -> None:
    token = request_id.set("0123456789")
    line = formatter.format(record("From %s.", HOSTILE, fields={"route": HOSTILE}))
    request_id.reset(token)
    assert line.splitlines() == [line]
    assert [character for character in line if ord(character) < 32 or 127 <= ord(character) < 160] == []


def test_a_line_for_machines_is_one_object() -> None:
    made = record("From %s.", HOSTILE, fields={"status": 404}, created=1_800_000_000.25, msecs=250.0)
    assert json.loads(JSONFormatter().format(made)) == {
        "time": "2027-01-15T08:00:00.250Z",
        "level": "WARNING",
        "logger": "a.logger",
        "message": f"From {HOSTILE}.",
        "status": 404,
    }


def test_a_line_for_people_ends_in_the_fields() -> None:
    line = TextFormatter().format(record("API request", fields={"status": 404, "route": "/api/urls"}))
    assert line.endswith(" WARNING a.logger: API request status=404 route=/api/urls")


@pytest.mark.parametrize("formatter", [JSONFormatter(), TextFormatter()], ids=["json", "text"])
def test_what_the_database_quotes_of_a_row_is_left_out(formatter: logging.Formatter, db: None) -> None:
    with pytest.raises(IntegrityError, match="hunter2") as caught, connection.cursor() as cursor:
        cursor.execute("INSERT INTO accounts_user (email, password) VALUES ('x', 'argon2$hunter2')")
    made = record("Refused: %s", caught.value, exc_info=(caught.type, caught.value, caught.tb))
    text = formatter.format(made)
    assert "hunter2" not in text.replace("VALUES ('x', 'argon2$hunter2')", "")
    assert "null value in column" in text


@pytest.mark.parametrize(
    ("addresses", "expected"), [(False, "Invalid request"), (True, "Invalid request from 192.0.2.7")]
)
def test_what_the_web_server_cannot_read_is_not_quoted(addresses: bool, expected: str) -> None:
    made = record("Invalid request from ip=192.0.2.7: Invalid HTTP Header: 'X-API-Key: sl_live_abc'")
    assert Discreet(addresses=addresses).filter(made) is True
    assert made.getMessage() == expected


def test_what_the_application_did_not_survive_is_not_quoted() -> None:
    made = record("Error handling request %s %s", "GET", "/api/urls?key=sl_live_abc")
    Discreet(addresses=True).filter(made)
    assert made.getMessage() == "Error handling a request"
