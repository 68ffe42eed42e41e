"""Which texts an operator can ban as a host."""

from __future__ import annotations

import pytest
from django.db import IntegrityError
from rest_framework.test import APIClient

from bans import services as bans
from bans.models import Ban
from common.errors import InvalidFields
from testing.cases import for_each
from testing.refusals import broken_rules

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("text", "host", "address"),
    [
        ("Evil.Example.", "evil.example", "https://evil.example/a"),
        ("*.evil.example", "evil.example", "https://evil.example/a"),
        ("*.Evil.Example.", "evil.example", "https://www.evil.example/a"),
        (".evil.example", "evil.example", "https://evil.example/a"),
        (" evil.example:8443 ", "evil.example", "https://evil.example/a"),
        ("https://evil.example:8080/login?a=b", "evil.example", "https://evil.example/a"),
        ("https://*.evil.example/", "evil.example", "https://evil.example/a"),
        ("//evil.example/login", "evil.example", "https://evil.example/a"),
        ("https://good.example:80@evil.example/a@b", "evil.example", "https://evil.example/a"),
        ("bücher.example", "xn--bcher-kva.example", "https://www.BÜCHER.example/a"),
        ("*.XN--bcher-kva.example", "xn--bcher-kva.example", "https://bücher.example/a"),
        ("\uff0a.evil\u3002example", "evil.example", "https://evil.example/a"),
        ("192.0.2.7", "192.0.2.7", "http://192.0.2.7/a"),
        ("192.0.2.7", "192.0.2.7", "http://0xC0000207/"),
        ("http://0xC0000207/", "192.0.2.7", "http://192.0.2.7/a"),
        ("[2001:db8::1]", "[2001:db8::1]", "http://[2001:0db8:0::1]:8080/a"),
        ("2001:DB8::1", "[2001:db8::1]", "http://[2001:db8::1]/a"),
        ("192.0.2.7", "192.0.2.7", "http://[::ffff:192.0.2.7]/"),
        ("1.0.2.3", "1.0.2.3", "http://[::ffff:100:203]:8080/a"),
        ("0.0.0.7", "0.0.0.7", "http://[::ffff:0:7]/a"),
        ("::ffff:192.0.2.7", "192.0.2.7", "http://192.0.2.7/a"),
        ("http://[::FFFF:C000:207]/", "192.0.2.7", "http://[::ffff:192.0.2.7]/a"),
    ],
)
def test_banned_host_accepts_names_and_urls(api: APIClient, text: str, host: str, address: str) -> None:
    assert bans.ban_host(host=text).host == host
    assert broken_rules(api.post("/api/urls", {"originalUrl": address})) == [("originalUrl", "banned")]


@for_each(
    ("text", "code"),
    [
        ("com", "single_label"),
        ("*.com", "single_label"),
        ("https://com/", "single_label"),
        ("//com", "single_label"),
        ("a/b", "invalid_host"),
        ("http:/evil.example", "invalid_host"),
        ("HTTPS:/evil.example", "invalid_host"),
        ("https:evil.example", "invalid_host"),
        ("http:/", "invalid_host"),
        ("", "invalid_host"),
        (" ", "invalid_host"),
        ("*", "invalid_host"),
        ("*.", "invalid_host"),
        ("*evil.example", "invalid_host"),
        ("a.*.evil.example", "invalid_host"),
        ("**.evil.example", "invalid_host"),
        ("..evil.example", "invalid_host"),
        ("a..evil.example", "invalid_host"),
        ("a b.example", "invalid_host"),
        ("ev!l.example", "invalid_host"),
        ("x" * 64 + ".example", "invalid_host"),
        ("a." * 130 + "example", "invalid_host"),
        ("*.192.0.2.7", "invalid_host"),
        ("https://user@/", "invalid_host"),
        ("evil.example:99999", "invalid_host"),
        ("192.0.2.0/24", "network"),
        ("2001:db8::/32", "network"),
        ("evil.example:0", "port"),
        ("ftp://evil.example", "unsupported_scheme"),
        ("user@evil.example", "userinfo"),
        ("https://evil.example\\@good.example/", "backslash"),
        ("\x00", "control_character"),
    ],
)
def test_text_that_is_not_a_host_is_refused(db: None, text: str, code: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        bans.ban_host(host=text)
    assert [(error.field, error.code) for error in refused.value.errors] == [("host", code)]
    assert not Ban.objects.exists()


@pytest.mark.parametrize("host", ["*.evil.example", ".evil.example", "Evil.example", "evil.example.", "com"])
def test_the_database_accepts_only_canonical_hosts(host: str) -> None:
    with pytest.raises(IntegrityError, match="ban_host_canonical"):
        Ban.objects.create(host=host)
