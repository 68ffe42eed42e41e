"""Dates of a new link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from testing.links.calls import whole
from testing.refusals import broken_rules
from tests.links.creation import URL, refused

DATES = {
    "2030-12-31T23:59:59Z": "2030-12-31T23:59:59Z",
    "2030-12-31 23:59:59Z": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59Z": "2030-12-31T23:59:00Z",
    "2030-12-31T23:59:59": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59": "2030-12-31T23:59:00Z",
    "2030-12-31": "2030-12-31T00:00:00Z",
    "2030-12-31T23:59:59+00:00": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59:59-00:00": "2030-12-31T23:59:59Z",
    "2030-12-31T23:59:59+02:00": "2030-12-31T21:59:59Z",
    "2030-12-31T23:59:59-0330": "2031-01-01T03:29:59Z",
    "2030-12-31T23:59:59+14:00": "2030-12-31T09:59:59Z",
    "2030-12-31T23:59:59-12": "2031-01-01T11:59:59Z",
    "2030-12-31T23:59:59.5Z": "2030-12-31T23:59:59.500000Z",
    "2030-12-31T23:59:59,5Z": "2030-12-31T23:59:59.500000Z",
    "2030-12-31T23:59:59.123456Z": "2030-12-31T23:59:59.123456Z",
    "2030-12-31T23:59:59.123456789Z": "2030-12-31T23:59:59.123456Z",
    "2028-02-29T00:00:00Z": "2028-02-29T00:00:00Z",
    "0001-01-01T00:00:00Z": "0001-01-01T00:00:00Z",
    "1582-10-10T00:00:00Z": "1582-10-10T00:00:00Z",
    "9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999999Z",
}


def test_an_expiry_date_is_kept_in_utc(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert {text: whole(api, make_link(expiresAt=text))["expiresAt"] for text in DATES} == DATES


def test_dates_accept_lower_case_letters(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(expiresAt="2030-12-31t23:59:59z"))["expiresAt"] == "2030-12-31T23:59:59Z"


NO_DATES = [
    "tomorrow", "now", "never", "infinity", "-infinity", "epoch", "1893456000", "2030", "2030-12",
    "20301231", "2030-W01", "2030-W01-1", "2030-365", "31-12-2030", "12/31/2030", "2030/12/31", "2030-1-1",
    "30-12-31", "2030-12-31T", "2030-12-31Z", "2030-12-31T23", "T23:59:59Z", "2030-12-31T23:59:59ZZ",
    "2030-12-31T24:00:00Z", "2030-12-31T23:60:00Z", "2030-12-31T23:59:60Z", "2016-12-31T23:59:60Z",
    "2030-02-29T00:00:00Z", "2030-02-30", "2030-00-01", "2030-13-01", "2030-01-00", "2030-01-32",
    "0000-01-01", "10000-01-01", "-2030-01-01", "+2030-01-01", "2030-12-31T23:59:59+24:00",
    "2030-12-31T23:59:59+99:99", "2030-12-31T23:59:59.Z", "2030-12-31T23:59:59.1234567890Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "\u0662\u0660\u0663\u0660-12-31",
    "\uff12\uff10\uff13\uff10-12-31", "2030\u201012\u201031", "2030-12-31T23:59:59\u22120100",
    "2030-12-31T\u0662\u0663:59:59Z",
]  # fmt: skip
NO_DATES += [
    "",
    " ",
    " 2030-12-31",
    "2030-12-31 ",
    "2030-12-31T23:59:59Z\n",
    "2030-12-31T23:59:59 UTC",
    "2030-12-31T23:59:59 Europe/Berlin",
    "Sun, 06 Nov 2030 08:49:37 GMT",
    "'; DROP TABLE links_link; --",
]


def test_an_invalid_date_is_refused(api: APIClient) -> None:
    for text in NO_DATES:
        response = refused(api, {"originalUrl": URL, "expiresAt": text}, 400)
        assert broken_rules(response) == [("expiresAt", "invalid")]


def test_an_expiry_in_the_past_creates_an_expired_link(
    make_link: Callable[..., Any], visitor: Client
) -> None:
    link = make_link(expiresAt="2001-01-01T00:00:00Z")
    assert link["isActive"] is True
    assert visitor.get("/" + link["shortCode"]).status_code == 410
