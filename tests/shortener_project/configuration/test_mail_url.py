"""EMAIL_URL."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from shortener_project.configuration.env import parse_mail_url

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("url", "host", "port", "starttls", "tls"),
    [
        ("smtp://mail.example.com", "mail.example.com", 587, True, False),
        ("smtp://127.0.0.1:25", "127.0.0.1", 25, False, False),
        ("smtps://mail.example.com", "mail.example.com", 465, False, True),
        ("smtps://[2001:db8::1]:1465", "2001:db8::1", 1465, False, True),
    ],
)
def test_the_port_decides_about_tls(url: str, host: str, port: int, *, starttls: bool, tls: bool) -> None:
    settings = parse_mail_url(url).settings
    assert settings == {
        "EMAIL_BACKEND": SMTP,
        "EMAIL_HOST": host,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": "",
        "EMAIL_HOST_PASSWORD": "",
        "EMAIL_USE_TLS": starttls,
        "EMAIL_USE_SSL": tls,
        "EMAIL_TIMEOUT": 10,
    }


def test_user_and_password_are_percent_decoded() -> None:
    settings = parse_mail_url("smtp://me%40example.com:p%40ss%2Fword@mail.example.com").settings
    assert (settings["EMAIL_HOST_USER"], settings["EMAIL_HOST_PASSWORD"]) == ("me@example.com", "p@ss/word")


@pytest.mark.parametrize(("url", "scheme", "kind"), [("", "", "dummy"), ("console:", "console", "console")])
def test_without_a_server(url: str, scheme: str, kind: str) -> None:
    server = parse_mail_url(url)
    expected = {"EMAIL_BACKEND": f"django.core.mail.backends.{kind}.EmailBackend"}
    assert (server.scheme, server.settings) == (scheme, expected)


@pytest.mark.parametrize(
    "url",
    [
        *("mail.example.com", "imap://mail.example.com", "smtp://", "smtp://mail.example.com:0x1"),
        *("smtp://mail.example.com/path", "smtp://mail.example.com?tls=1", "smtp://[x", "secret-word"),
    ],
)
def test_anything_else_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        parse_mail_url(url)
    assert "secret-word" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("url", ["smtp://me:secret@mail.example.com:25", "smtp://me:secret@127.0.0.1:1025"])
def test_a_password_without_tls_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="without TLS") as refused:
        parse_mail_url(url)
    assert "secret" not in str(refused.value)
