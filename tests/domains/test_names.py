# ruff: noqa: RUF001 # the tests use look-alike letters
from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from common.errors import InvalidFields
from domains.models import Domain
from domains.names import canonical_name, is_apex, registered_domain
from testing.cases import for_each

LONGEST = ".".join(["a" * 49] * 4 + ["b" * 24, "example"])

CANONICAL = [
    ("brand.example", None, "brand.example"),
    ("BRAND.Example", None, "brand.example"),
    ("brand.example.", None, "brand.example"),
    ("brand。example", None, "brand.example"),
    ("brand．example｡", None, "brand.example"),
    ("ｂｒａｎｄ.example", None, "brand.example"),
    ("bücher.example", None, "xn--bcher-kva.example"),
    ("BÜCHER.example", None, "xn--bcher-kva.example"),
    ("bu\u0308cher.example", None, "xn--bcher-kva.example"),
    ("xn--bcher-kva.example", None, "xn--bcher-kva.example"),
    ("XN--BCHER-KVA.example", None, "xn--bcher-kva.example"),
    ("straße.example", None, "xn--strae-oqa.example"),
    ("bra\u00adnd.example", None, "brand.example"),
    ("пример.рф", None, "xn--e1afmkfd.xn--p1ai"),
    ("例え.jp", None, "xn--r8jz45g.jp"),
    ("brand.example", "go", "go.brand.example"),
    ("brand.example", "GO", "go.brand.example"),
    ("brand.example", "a.b.c", "a.b.c.brand.example"),
    ("brand.example", "1.2.3.4", "1.2.3.4.brand.example"),
    ("brand.example", "", "brand.example"),
    ("example.co.uk", None, "example.co.uk"),
    ("someone.github.io", None, "someone.github.io"),
    ("go.company.internal", None, "go.company.internal"),
    ("links.sho.rt", None, "links.sho.rt"),
    ("1and1.example", None, "1and1.example"),
    ("123.example", None, "123.example"),
    (LONGEST, None, LONGEST),
]

# Domains in requests, by the error code that they cause.
_HOSTILE = {
    "blank": [""],
    "invalid": [
        *(
            " ",
            "\t",
            " brand.example",
            "brand.example ",
            "brand.example\n",
            "brand .example",
            "brand\u00a0x.example",
        ),
        *(".", "..", ".brand.example", "brand..example", "brand.example..", "。"),
        *("-brand.example", "brand-.example", "br--and.example", "a.-.example", "_dmarc.brand.example"),
        *("*.brand.example", "*", "brand.*", "b*and.example"),
        *(
            "http://brand.example",
            "https://brand.example/",
            "//brand.example",
            "brand.example/",
            "brand.example/x",
        ),
        *(
            "brand.example:443",
            "user@brand.example",
            "brand.example?x",
            "brand.example#x",
            "brand.example\\x",
        ),
        *("brand.example,other.example", "brand.example;other.example", "brand.example other.example"),
        *(
            "brand!.example",
            "brand'.example",
            'brand".example',
            "<b>.example",
            "br$and.example",
            "br%61nd.example",
        ),
        *("xn--a.example", "xn--.example", "xn--zzzzzzzz99999.example", "xn--n3h.example", "☃.example"),
        *(
            "a\u200db.example",
            "\u202ebrand.example",
            "brand\u2024example.com/",
            "\ufffd.example",
            "א1a.example",
        ),
        *(
            "a" * 64 + ".example",
            "brand.example\r\nHost: x",
            "[brand.example]",
            "1.2.3.4/8",
            "fe80::1%eth0/64",
        ),
    ],
    "address": [
        *("127.0.0.1", "192.0.2.1", "255.255.255.255", "0.0.0.0", "1.2.3.4.", "１２７.0.0.1", "127。0。0。1"),  # noqa: S104 # a host that is refused
        *("127.1", "1.2", "0x7f.1", "0x7f.0x1", "2130706433", "0x7f000001", "017700000001"),
        *("brand.example.1", "brand.0x", "::1", "[::1]", "2001:db8::1", "[2001:db8::1]", "::ffff:127.0.0.1"),
    ],
    "single_label": ["brand", "com", "COM.", "intranet", "xn--p1ai"],
    "special_use": [
        *(
            "app.localhost",
            "printer.local",
            "x.invalid",
            "x.onion",
            "x.alt",
            "x.home.arpa",
            "1.127.in-addr.arpa",
        ),
    ],
    "public_suffix": ["co.uk", "CO.UK", "github.io", "com.au", "gov.uk", "kawasaki.jp"],
    "ours": ["sho.rt", "SHO.RT", "sho.rt.", "sho。rt", "ＳＨＯ.rt", "s\u00adho.rt", "ſho.rt"],
    "too_long": ["a." * 113 + "examples", f"a{LONGEST}"],
    "max_length": ["a." * 127, "x" * 254, "a" * 60_000],
}
HOSTILE = [(name, rule) for rule, names in _HOSTILE.items() for name in names]


@for_each(("domain", "subdomain", "host"), CANONICAL)
def test_names_are_canonicalized(domain: str, subdomain: str | None, host: str) -> None:
    assert canonical_name(domain, subdomain).host == host


def test_each_hostile_name_is_refused_with_its_error_code(api: APIClient) -> None:
    refusals = []
    for name, _ in HOSTILE:
        response = api.post("/api/domains", {"domain": name})
        refusals += [(name, error["field"], error["code"]) for error in response.json().get("errors", [])]
        assert response.status_code == 400, name
    assert refusals == [(name, "domain", code) for name, code in HOSTILE]
    assert len(HOSTILE) > 60
    assert not Domain.objects.exists()


@pytest.mark.parametrize(
    "subdomain",
    [".", "-", "go..", ".go", " ", "go ", "*", "_go", "a" * 64, "go/", "go@", "☃", "http://go", "go:1"],
)
def test_a_hostile_subdomain_is_refused(subdomain: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        canonical_name("brand.example", subdomain)
    assert [(error.field, error.code) for error in refused.value.errors] == [("subdomain", "invalid")]


def test_errors_of_both_parts_are_reported_together() -> None:
    with pytest.raises(InvalidFields) as refused:
        canonical_name("127.0.0.1", "*")
    assert [(error.field, error.code) for error in refused.value.errors] == [
        ("domain", "address"),
        ("subdomain", "invalid"),
    ]


@pytest.mark.parametrize(("domain", "subdomain"), [("rt.", "sho"), ("RT", "SHO")])
def test_the_service_host_cannot_be_claimed_in_two_parts(domain: str, subdomain: str) -> None:
    with pytest.raises(InvalidFields):
        canonical_name(domain, subdomain)


def test_maximum_length_leaves_space_for_the_challenge_label() -> None:
    assert len(f"_shortener-challenge.{LONGEST}") == 253


@pytest.mark.parametrize(
    ("host", "registered"),
    [
        ("go.brand.example", "brand.example"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("x.someone.github.io", "someone.github.io"),
        ("xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_registered_domain_of_a_name(host: str, registered: str) -> None:
    assert registered_domain(host) == registered
    assert is_apex(host) is (host == registered)
