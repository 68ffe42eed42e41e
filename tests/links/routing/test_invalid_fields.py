"""Invalid values of the fields that decide where a link leads, and changes of the target."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from testing.cases import for_each
from testing.links.calls import whole
from testing.links.many import URL
from testing.links.routing_fields import EVERYTHING, routing
from testing.refusals import broken_rules
from tests.links.creation import everything_written
from tests.links.routing.changed_fields import MakeLink, put

pytestmark = pytest.mark.django_db(transaction=True)


@for_each(
    ("field", "value", "broken"),
    [
        ("targetUrl", "", ("targetUrl", "blank")),
        ("targetUrl", "nonsense", ("targetUrl", "invalid_url")),
        ("targetUrl", "ftp://example.com/", ("targetUrl", "unsupported_scheme")),
        ("targetUrl", 5, ("targetUrl", "invalid")),
        ("startsAt", "soon", ("startsAt", "invalid")),
        ("notStartedUrl", "https://a@example.com/", ("notStartedUrl", "userinfo")),
        ("expiredUrl", "https://example.com:0/", ("expiredUrl", "port")),
        ("forwardQuery", "true", ("forwardQuery", "invalid")),
        ("referrerPolicy", "unsafe-url", ("referrerPolicy", "referrer_policy")),
        ("referrerPolicy", "", ("referrerPolicy", "blank")),
        ("rules", {}, ("rules", "not_a_list")),
        ("split", "text", ("split", "not_a_list")),
        ("preview", [], ("preview", "invalid")),
        ("preview", {"title": "x" * 201}, ("preview.title", "max_length")),
        ("preview", {"description": "x" * 501}, ("preview.description", "max_length")),
        ("preview", {"imageUrl": "javascript:alert(1)"}, ("preview.imageUrl", "unsupported_scheme")),
        ("preview", {"picture": "https://example.com/"}, ("preview.picture", "unknown_field")),
    ],
)
def test_invalid_value_is_rejected(
    field: str, value: Any, broken: tuple[str, str], api: APIClient, make_link: MakeLink
) -> None:
    link = make_link(**EVERYTHING)
    written = everything_written()
    assert broken_rules(api.post("/api/urls", {"originalUrl": URL, field: value})) == [broken]
    assert broken_rules(api.put(f"/api/urls/{link['_id']}", {field: value})) == [broken]
    assert everything_written() == written
    assert routing(whole(api, link)) == EVERYTHING


def test_empty_preview_is_none(api: APIClient, make_link: MakeLink) -> None:
    assert whole(api, make_link(preview={"title": "", "imageUrl": None}))["preview"] is None
    card = {"title": "Sale", "description": None, "imageUrl": None}
    assert whole(api, make_link(preview={"title": "Sale"}))["preview"] == card


def test_start_must_be_before_expiry(api: APIClient, make_link: MakeLink) -> None:
    early, late = "2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"
    created = api.post("/api/urls", {"originalUrl": URL, "startsAt": late, "expiresAt": early})
    assert broken_rules(created) == [("startsAt", "start_after_expiry")]
    same = api.post("/api/urls", {"originalUrl": URL, "startsAt": late, "expiresAt": late})
    assert broken_rules(same) == [("startsAt", "start_after_expiry")]
    path = f"/api/urls/{make_link(startsAt=early, expiresAt=late)['_id']}"
    before = api.get(path).json()
    assert broken_rules(api.put(path, {"startsAt": late})) == [("startsAt", "start_after_expiry")]
    assert broken_rules(api.put(path, {"expiresAt": early})) == [("expiresAt", "start_after_expiry")]
    assert api.get(path).json() == before
    assert api.put(path, {"startsAt": late, "expiresAt": None}).status_code == 200


def test_moved_link_leads_to_its_target_and_back(api: APIClient, make_link: MakeLink, visitor: Any) -> None:
    link = make_link("https://example.com/first?a=1")

    def location() -> str:
        response = visitor.get(f"/{link['shortCode']}")
        assert response.status_code == 302
        return str(response["Location"])

    assert location() == "https://example.com/first?a=1"
    put(api, link, targetUrl="HTTPS://Example.com/ä", utm={"source": "mail"})
    assert location() == "https://example.com/%C3%A4?utm_source=mail"
    assert whole(api, link)["targetUrl"] == "HTTPS://Example.com/ä"
    assert whole(api, link)["originalUrl"] == "https://example.com/first?a=1"
    put(api, link, targetUrl=None, utm=None)
    assert location() == "https://example.com/first?a=1"


def test_only_a_new_target_changes_the_destination(make_link: MakeLink) -> None:
    make_link()
    with pytest.raises(Exception, match="destination only with target_url"), connection.cursor() as cursor:
        cursor.execute("UPDATE links_link SET destination = 'https://evil.example/'")
