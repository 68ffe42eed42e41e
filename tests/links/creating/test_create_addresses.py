"""The text and the address of a new link: what is kept, and which addresses are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from links.models import Link
from testing.links.calls import whole
from testing.refusals import broken_rules
from tests.links.creation import FAMILY, URL, UTM_KEYS, refused

VERBATIM = [
    "\N{GRINNING FACE} \N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}",
    FAMILY,
    "\u202eright to left\u202c \u2066isolated\u2069 \u05e9\u05dc\u05d5\u05dd",
    "zero\u200bwidth\ufeff\u2060\u200d",
    "Z\u0351\u036b\u0343a\u0300\u0301l\u0302\u0303g\u0304o\u0305",
    "e\u0301 is not \u00e9",
    "\ufffd \ufffe \uffff \U0010ffff",
    "  leading, trailing and\ttabbed \r\n lines  ",
    "\u2028line\u2029paragraph\u0085next",
    "\x01\x1b[31mred\x7f",
    "'; DROP TABLE links_link; --",
    "1' OR '1'='1",
    "%s %(owner)s %% %n $1 {0} {owner} ${jndi:ldap://x} #{7*7}",
    "{{ 7*7 }} {% debug %} <%= 7*7 %>",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"quoted\" 'single' `back` \\slashed\\ /",
    "=cmd|'/c calc'!A0",
    "null",
    "\\u0000 \\x00 \\N",
    "{} [] , {a,b} NULL",
    "\u0130\u0131\u017f\u00df\ufb01",
    "\u6f22\u5b57 \ud55c\uad6d\uc5b4 \u0939\u093f\u0928\u094d\u0926\u0940",
]


def test_text_is_kept_and_returned_byte_for_byte(api: APIClient) -> None:
    for text in VERBATIM:
        body = {
            "title": text,
            "description": text,
            "tags": [text[:50], "other"],
            "utm": dict.fromkeys(UTM_KEYS, text),
        }
        response = api.post("/api/urls", {"originalUrl": URL, **body})
        assert response.status_code == 201, response.content
        created = response.json()["data"]["url"]
        assert (created["title"], created["tags"]) == (text, [text[:50], "other"])
        read = whole(api, created)
        assert {name: read[name] for name in body} == body
        listed = api.get("/api/urls").json()["data"]["urls"][0]
        assert listed["title"] == text
        row = Link.objects.get(public_id=read["_id"])
        assert (row.title, row.description, row.tags) == (text, text, [text[:50], "other"])


def test_equal_tags_are_kept_as_they_were_sent(api: APIClient, make_link: Callable[..., Any]) -> None:
    assert whole(api, make_link(tags=["a", "A", "a"]))["tags"] == ["a", "A", "a"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A/../b?Q=1#F", "https://example.com/b?Q=1#F"),
        ("  https://example.com/  ", "https://example.com/"),
        (
            "http://B\u00fccher.example/\u00fc?\u00fc#\u00fc",
            "http://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC",
        ),
        ("http://\uff27\uff4f.com/", "http://go.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::FFFF:1]:8080/x", "http://[::ffff:1]:8080/x"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/%7euser/%2F?a=b&&c=%20+", "https://example.com/%7euser/%2F?a=b&&c=%20+"),
        ("https://example.com/?next=http://sho.rt/abc", "https://example.com/?next=http://sho.rt/abc"),
        ("https://example.com/\N{GRINNING FACE}", "https://example.com/%F0%9F%98%80"),
    ],
)
def test_an_address_is_returned_as_written_and_followed_as_a_browser_writes_it(
    api: APIClient, make_link: Callable[..., Any], visitor: Client, written: str, sent: str
) -> None:
    link = make_link(written)
    assert link["originalUrl"] == written
    assert whole(api, link)["originalUrl"] == written
    assert api.get("/api/urls").json()["data"]["urls"][0]["originalUrl"] == written
    assert visitor.get("/" + link["shortCode"])["Location"] == sent


NO_ADDRESSES = [
    ("example.com", "invalid_url"),
    ("//example.com/", "invalid_url"),
    ("https:example.com", "invalid_url"),
    ("https:///example.com", "invalid_url"),
    ("http://", "invalid_url"),
    ("http://a b.com/", "invalid_url"),
    ("http://[::1", "invalid_url"),
    ("http://256.256.256.256/", "invalid_url"),
    ("http://example.com:99999/", "invalid_url"),
    ("http://example.com:0/", "port"),
    ("ftp://example.com/", "unsupported_scheme"),
    ("javascript:alert(1)", "unsupported_scheme"),
    ("data:text/html,x", "unsupported_scheme"),
    ("file:///etc/passwd", "unsupported_scheme"),
    ("http://user@example.com/", "userinfo"),
    ("http://user:pass@example.com/", "userinfo"),
    ("http://example.com\\@evil.example/", "backslash"),
    ("http://exam\tple.com/", "control_character"),
    ("http://example.com/\r\nSet-Cookie: a=b", "control_character"),
]


def test_an_invalid_url_is_refused(api: APIClient) -> None:
    for address, code in NO_ADDRESSES:
        assert broken_rules(refused(api, {"originalUrl": address}, 400)) == [("originalUrl", code)]


OUR_ADDRESS = [
    "http://sho.rt",
    "http://sho.rt/",
    "https://sho.rt/abc",
    "HTTP://SHO.RT/abc",
    "http://Sho.Rt/abc",
    "http://sho.rt:80/abc",
    "https://sho.rt:443/abc",
    "http://sho.rt:443/abc",
    "http://sho.rt:00080/abc",
    "http://sho.rt:/abc",
    "http://sho.rt./abc",
    "  http://sho.rt/abc  ",
    "http://sho.rt?x",
    "http://sho.rt#x",
    "http://\uff33\uff28\uff2f.\uff32\uff34/abc",
    "http://sho\u3002rt/abc",
    "http://sho%2Ert/abc",
    "http://s%68o.rt/abc",
    "http://sh\u00ado.rt/abc",
    "http://sh\u200bo.rt/abc",
    "http://sho.rt/a/../abc",
]


def test_our_own_address_is_refused_in_every_spelling(api: APIClient) -> None:
    for address in OUR_ADDRESS:
        response = refused(api, {"originalUrl": address, "customCode": "around"}, 400)
        assert broken_rules(response) == [("originalUrl", "loop")]


NOT_OUR_ADDRESS = [
    "http://notsho.rt/",
    "http://www.sho.rt/",
    "http://sho.rt.example/",
    "http://example.com/sho.rt",
    "http://sho.rtx/",
    "http://s-ho.rt/",
]


def test_an_address_that_only_resembles_ours_is_accepted(make_link: Callable[..., Any]) -> None:
    assert [make_link(address)["originalUrl"] for address in NOT_OUR_ADDRESS] == NOT_OUR_ADDRESS


@pytest.mark.parametrize("subject", ["alice", "stranger"])
def test_any_accounts_active_domain_is_a_loop(
    request: pytest.FixtureRequest, api: APIClient, subject: str
) -> None:
    owner = request.getfixturevalue(subject).workspace
    Domain.objects.create(
        owner=owner, domain="brand.example", subdomain="go", host="go.brand.example", status="active"
    )
    for address in (
        "https://go.brand.example",
        "http://go.brand.example/abc",
        "https://GO.Brand.Example./abc",
        "https://go.brand.example:8443/abc",
        "https://go%2Ebrand.example/abc",
    ):
        response = refused(api, {"originalUrl": address, "customCode": "around"}, 400)
        assert broken_rules(response) == [("originalUrl", "loop")]


def test_an_active_domain_of_another_script_is_a_loop(api: APIClient, stranger: NewAccount) -> None:
    Domain.objects.create(
        owner=stranger.workspace,
        domain="xn--bcher-kva.example",
        host="xn--bcher-kva.example",
        status="active",
    )
    for address in (
        "https://B\u00fccher.example/",
        "https://bu\u0308cher.example/",
        "https://XN--BCHER-KVA.example/",
    ):
        assert broken_rules(refused(api, {"originalUrl": address}, 400)) == [("originalUrl", "loop")]


def test_an_unverified_domain_is_not_a_loop(make_link: Callable[..., Any], stranger: NewAccount) -> None:
    Domain.objects.create(
        owner=stranger.workspace, domain="brand.example", host="brand.example", status="pending"
    )
    assert make_link("https://brand.example/")["originalUrl"] == "https://brand.example/"
