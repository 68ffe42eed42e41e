"""Unusual numbers and dates in every place that accepts one: the response is defined and never a 5xx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from rest_framework.test import APIClient

Verdict = tuple[int, str | None, list[str]]
MakeLink = Callable[..., dict[str, Any]]

FIELDS = ("page", "limit", "maxClicks", "size", "redirectType")
# As written in a body or a query value, with the fields that accept it; all others refuse it.
NUMBERS: dict[str, set[str]] = {
    "1": {"page", "limit", "maxClicks"},
    "100": {"page", "limit", "maxClicks", "size"},
    "101": {"page", "maxClicks", "size"},
    "301": {"page", "maxClicks", "size", "redirectType"},
    "302": {"page", "maxClicks", "size", "redirectType"},
    "2000": {"page", "maxClicks", "size"},
    "2001": {"page", "maxClicks"},
    "50000": {"page", "maxClicks"},
    "50001": {"page", "maxClicks"},
    "50002": {"maxClicks"},
    "2147483647": {"maxClicks"},
    "2147483648": set(),
    "9223372036854775807": set(),
    "9223372036854775808": set(),
    "18446744073709551616": set(),
    "-9223372036854775809": set(),
    "9" * 4000: set(),
    "9" * 5000: set(),
    "0": set(),
    "-0": set(),
    "-1": set(),
    "1.0": set(),
    "301.0": set(),
    "1e2": set(),
    "1E400": set(),
    "-1e-400": set(),
    "true": set(),
    # In JSON this is no value, which means the default in three places; in a query it is a word.
    "null": {"maxClicks", "redirectType"},
    '"301"': set(),
    '"100 "': set(),
    '"\u0661\u0660\u0660"': set(),
    "[301]": set(),
    '{"a":1}': set(),
    # Neither JSON nor a number in a query.
    "NaN": set(),
    "Infinity": set(),
    "0x64": set(),
    "1_00": set(),
    "+100": set(),
}

# What `expiresAt` accepts, and whether reports, which end with the days that can have clicks, accept it too.
DATES: dict[str, bool] = {
    "2030-12-31": True,
    "2030-12-31T23:59": True,
    "2030-12-31T23:59:59": True,
    "2030-12-31T23:59:59Z": True,
    "2030-12-31t23:59:59z": True,
    "2030-12-31 23:59:59Z": True,
    "2030-12-31T23:59:59+00:00": True,
    "2030-12-31T23:59:59-00:00": True,
    "2030-12-31T23:59:59+14:00": True,
    "2030-12-31T23:59:59-12:00": True,
    "2030-12-31T23:59:59+0530": True,
    "2030-12-31T23:59:59+05": True,
    "2030-12-31T23:59:59.5Z": True,
    "2030-12-31T23:59:59,5Z": True,
    "2030-12-31T23:59:59.123456789Z": True,
    "2028-02-29": True,
    "1970-01-01": True,
    "9999-12-30T00:00:00Z": True,
    "0001-01-01T00:00:00Z": False,
    "1582-10-10": False,
    "1969-12-31T23:59:59Z": False,
    "9999-12-31T23:59:59.999999Z": False,
}
NO_DATES = [
    "", " ", "now", "never", "infinity", "-infinity", "epoch", "1893456000", "2030", "2030-12", "20301231",
    "2030-W01-1", "2030-365", "31.12.2030", "12/31/2030", "2030-1-1", "30-12-31", "2030-12-31T", "2030-12-31T23",
    "2030-12-31T24:00:00Z", "2030-12-31T23:60:00Z", "2016-12-31T23:59:60Z", "2030-12-31T23:59:61Z", "2030-02-29",
    "1900-02-29", "2030-13-01", "2030-00-01", "2030-01-32", "2030-01-00", "0000-01-01", "10000-01-01", "-2030-01-01",
    "+2030-01-01", "2030-12-31T23:59:59+24:00", "2030-12-31T23:59:59+05:60", "2030-12-31T23:59:59.Z",
    "2030-12-31T23:59:59.1234567890Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00",
    "\u0662\u0660\u0663\u0660-12-31", "\uff12\uff10\uff13\uff10-12-31", "2030\u201012\u201031",
    "2030-12-31T23:59:59\u22120100", " 2030-12-31", "2030-12-31\n", "2030-12-31T23:59:59 UTC", "2" * 5000,
    "Tue, 31 Dec 2030 23:59:59 GMT",
]  # fmt: skip


def test_there_are_enough_cases() -> None:
    assert len(NUMBERS) >= 30
    assert len(DATES) + len(NO_DATES) >= 60


def verdict(response: HttpResponse) -> Verdict:
    """The status, the code and the invalid fields."""
    body = response.json()
    assert body["success"] is (response.status_code < 400)
    return response.status_code, body.get("code"), [error["field"] for error in body.get("errors", [])]


def wrong(field: str) -> Verdict:
    return 400, "validation_error", [field]


def is_json(text: str) -> bool:
    """Parse as the service does: a number that is too large to represent is not valid."""
    return text not in ("NaN", "Infinity", "0x64", "1_00", "+100", "1E400", "9" * 5000)


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS)
def test_a_number_is_accepted_within_its_bounds_and_refused_in_the_envelope_outside(
    api: APIClient, make_link: MakeLink, field: str
) -> None:
    link = make_link()["_id"]

    def send(text: str) -> list[Verdict]:
        if field in ("page", "limit"):
            return [verdict(api.get(f"/api/urls?{field}={quote(text)}"))]
        rest, number = '"originalUrl":"https://example.com/"', f'"{field}":{text}'
        if field == "maxClicks":
            number = f'"restrictions":{{{number}}}'
        if field == "size":
            return [verdict(post("/api/qr-codes", f'{{"urlId":"{link}",{number}}}'))]
        path = f"/api/urls/{link}"
        changed = api.generic("PUT", path, f"{{{number}}}", "application/json")
        return [verdict(post("/api/urls", f"{{{rest},{number}}}")), verdict(changed)]

    def post(path: str, body: str) -> HttpResponse:
        return api.generic("POST", path, body, "application/json")

    name = f"restrictions.{field}" if field == "maxClicks" else field
    for text, accepting in NUMBERS.items():
        verdicts = send(text)
        if field in accepting:
            assert {(status, tuple(errors)) for status, _, errors in verdicts} <= {(200, ()), (201, ())}, text
        elif field in ("page", "limit") or is_json(text):
            assert verdicts == [wrong(name)] * len(verdicts), text[:40]
        else:
            assert verdicts == [(400, "invalid_json", [])] * len(verdicts), text[:40]


def test_an_expiry_is_a_valid_date_or_refused_in_the_envelope(api: APIClient, make_link: MakeLink) -> None:
    path = f"/api/urls/{make_link()['_id']}"

    def verdicts(text: str) -> list[Verdict]:
        body = {"originalUrl": "https://example.com/", "expiresAt": text}
        return [verdict(api.post("/api/urls", body)), verdict(api.put(path, {"expiresAt": text}))]

    accepted: list[Verdict] = [(201, None, []), (200, None, [])]
    assert {text: verdicts(text) for text in DATES} == dict.fromkeys(DATES, accepted)
    assert {text: verdicts(text) for text in NO_DATES} == {
        text: [wrong("expiresAt")] * 2 for text in NO_DATES
    }


@pytest.mark.parametrize("part", ["", "/devices", "/geographic", "/clicks"])
def test_the_days_of_a_report_are_valid_or_refused_in_the_envelope(
    api: APIClient, make_link: MakeLink, part: str
) -> None:
    path = f"/api/analytics/{make_link()['_id']}{part}"

    def verdict_for_day(text: str) -> Verdict:
        return verdict(api.get(path, {"startDate": text, "endDate": text}))

    refused: Verdict = (400, "validation_error", ["startDate", "endDate"])
    assert {text: verdict_for_day(text) for text in DATES} == {
        text: (200, None, []) if is_reported else refused for text, is_reported in DATES.items()
    }
    assert {text: verdict_for_day(text) for text in NO_DATES} == dict.fromkeys(NO_DATES, refused)
