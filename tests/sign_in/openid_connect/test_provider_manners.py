"""What the service accepts from a provider that does not keep to the specifications."""

from __future__ import annotations

import logging
import time
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote_plus

import pytest
from django.core.cache import cache
from pytest_django import Settings

from accounts.models import User
from testing.cases import for_each
from testing.pages.html import parse
from testing.sign_in.oidc import server
from testing.sign_in.oidc.manners import ABSENT
from testing.sign_in.oidc.running import Provider
from testing.sign_in.pages import browser, logged_in_as
from tests.sign_in.openid_connect.openid import ADA, at_provider, log_in
from tests.sign_in.openid_connect.openid import issuer as issuer
from tests.sign_in.openid_connect.openid import running as running

pytestmark = pytest.mark.django_db(transaction=True)
NOW = int(time.time())
FOREIGN = "The identity provider's identity token is for another client, too."
INVALID = "The identity provider's identity token is not valid."
ALGORITHM = "The identity provider signed the identity token in a way that is not accepted."
UNLISTED = "The identity token was signed with a key that the identity provider does not list."


@pytest.fixture(autouse=True)
def creates_accounts(settings: Settings) -> None:
    settings.OIDC_CREATE_ACCOUNTS = True


class Elsewhere(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Recorder)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.received: list[tuple[str, str | None, bytes]] = []


class _Recorder(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.received.append((self.command, self.headers["Authorization"], body))
        self.send_response(400)
        self.end_headers()
        self.wfile.write(b'{"error": "invalid_client"}')

    do_GET = do_POST  # noqa: N815 # a name of the library

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere() as recorder:
        thread = Thread(target=recorder.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield recorder
        recorder.shutdown()
        thread.join()


def refused(issuer: Provider, caplog: pytest.LogCaptureFixture, **manners: Any) -> tuple[int, str]:
    """The status and the text of the page. Each cause is logged exactly once, and nobody is logged in."""
    cache.clear()
    issuer.behave(**manners)
    caplog.clear()
    client = browser()
    begun = client.post("/accounts/oidc/login/")
    response = client.get(at_provider(begun)) if begun.status_code == 200 else begun
    assert (logged_in_as(client), User.objects.count()) == (None, 0)
    reason = parse(response).texts["p"]
    causes = [record for record in caplog.records if record.name.startswith("sign_in.")]
    assert len(causes) == 1, causes
    assert causes[0].levelno == logging.WARNING
    assert response.status_code == 403 or reason in causes[0].getMessage()
    return response.status_code, reason


def malformed(answer: str) -> list[tuple[dict[str, Any], int, str]]:
    """Each answer of the provider in the forms in which none may be."""
    manners: list[tuple[dict[str, Any], int, str]] = [
        ({"body": "[1, 2]"}, 502, f"The identity provider's {answer} is not a JSON object."),
        ({"body": '"text"'}, 502, f"The identity provider's {answer} is not a JSON object."),
        ({"body": "null"}, 502, f"The identity provider's {answer} is not a JSON object."),
        ({"body": "<p>Sorry"}, 502, f"The identity provider's {answer} is not JSON."),
        ({"body": ""}, 502, f"The identity provider's {answer} is not JSON."),
        ({"body": "[" * 100_000}, 502, f"The identity provider's {answer} is not JSON."),
        ({"body": '{"a": NaN}'}, 502, f"The identity provider's {answer} is not JSON."),
        ({"huge": 1024 * 1024 + 1}, 502, f"The identity provider's {answer} has more than 1,048,576 bytes."),
        (
            {"status": "503 Busy"},
            503,
            f"The identity provider answered with status 503 instead of its {answer}.",
        ),
        (
            {"status": "302 Found", "headers": {"Location": "http://localhost/"}},
            502,
            f"The identity provider redirects the request for its {answer}.",
        ),
    ]
    return manners


ANSWERS = {
    "configuration": "configuration",
    "token": "token",
    "keys": "keys",
    "userinfo": "user information",
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.slow
def test_malformed_answers_get_a_page_with_the_reason(
    name: str, issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    expected = malformed(ANSWERS[name])
    assert [(manners, *refused(issuer, caplog, **{name: manners})) for manners, _, _ in expected] == expected


CONFIGURATION = [
    ({"issuer": "https://evil.example"}, "names another issuer than OIDC_ISSUER."),
    ({"issuer": ABSENT}, "names another issuer than OIDC_ISSUER."),
    ({"token_endpoint": "http://id.example/token"}, "has no https URL as token_endpoint."),
    ({"jwks_uri": None, "userinfo_endpoint": []}, "has no https URL as userinfo_endpoint, jwks_uri."),
    ({"authorization_endpoint": 3}, "has no https URL as authorization_endpoint."),
    ({"authorization_endpoint": "https://id.example/\ud800"}, "has no https URL as authorization_endpoint."),
    ({"token_endpoint": "https://[::1/token"}, "has no https URL as token_endpoint."),
    ({"token_endpoint_auth_methods_supported": None}, "allows no client secret."),
    ({"token_endpoint_auth_methods_supported": 7}, "allows no client secret."),
    ({"token_endpoint_auth_methods_supported": [[], "private_key_jwt"]}, "allows no client secret."),
]


def test_unusable_configurations_get_a_page_with_the_reason(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    actual = [refused(issuer, caplog, configuration={"changes": changes}) for changes, _ in CONFIGURATION]
    prefix = "The identity provider's configuration"
    assert actual == [(502, f"{prefix} {reason}") for _, reason in CONFIGURATION]


def test_unusable_tokens_get_a_page_with_the_reason(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"access_token": ABSENT}, "The identity provider sent no usable access token."),
        ({"access_token": 5}, "The identity provider sent no usable access token."),
        ({"access_token": "é\ud800"}, "The identity provider sent no usable access token."),
        ({"access_token": "a\r\nX-Header: b"}, "The identity provider sent no usable access token."),
        ({"id_token": ABSENT}, "The identity provider sent no identity token."),
        ({"id_token": ["a"]}, "The identity provider sent no identity token."),
        ({"id_token": "a.b"}, INVALID),
        ({"id_token": "é.b.c"}, INVALID),
    ]
    actual = [refused(issuer, caplog, token={"changes": changes}) for changes, _ in cases]
    assert actual == [(502, reason) for _, reason in cases]


@pytest.mark.slow
def test_values_that_the_service_does_not_use_may_be_anything(issuer: Provider) -> None:
    for value in (1e30, "soon", [], -1):
        issuer.behave(token={"changes": {"expires_in": value}, "headers": {"Content-Type": ABSENT}})
        client = browser()
        assert log_in(client).status_code == 302
        assert logged_in_as(client) == "ada@example.com"


@pytest.mark.slow
def test_claims_of_the_wrong_type_get_a_page_with_the_reason(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    for claim in ("email", "given_name", "family_name"):
        for value in ({}, [], 7, True):
            assert refused(issuer, caplog, userinfo={"changes": {claim: value}}) == (
                502,
                f"The identity provider sent a {claim} that is not a text.",
            )


def test_another_subject_in_the_user_information_is_refused(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    reason = "The identity provider's identity token and user information disagree."
    for subject in ("somebody else", ABSENT, 1):
        assert refused(issuer, caplog, userinfo={"changes": {"sub": subject}}) == (502, reason)


@pytest.mark.slow
def test_identity_tokens_that_do_not_hold_are_refused(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    """OpenID Connect Core 1.0, 3.1.3.7"""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"claims": {"aud": [server.CLIENT_ID, "another"]}}, FOREIGN),
        ({"claims": {"aud": ["another", server.CLIENT_ID]}}, FOREIGN),
        ({"claims": {"aud": "another"}}, INVALID),
        ({"claims": {"aud": []}}, INVALID),
        ({"claims": {"aud": {"a": server.CLIENT_ID}}}, INVALID),
        ({"claims": {"aud": ABSENT}}, INVALID),
        ({"claims": {"azp": "another"}}, FOREIGN),
        ({"claims": {"azp": None}}, FOREIGN),
        ({"claims": {"exp": ABSENT}}, INVALID),
        ({"claims": {"exp": NOW - 3600}}, INVALID),
        ({"claims": {"exp": "soon"}}, INVALID),
        ({"claims": {"iat": ABSENT}}, INVALID),
        ({"claims": {"iat": NOW + 36_000}}, INVALID),
        ({"claims": {"iss": ABSENT}}, INVALID),
        ({"claims": {"iss": "https://evil.example"}}, INVALID),
        ({"claims": {"sub": ABSENT}}, INVALID),
        ({"claims": {"sub": 5}}, INVALID),
        ({"signature": "rogue"}, INVALID),
        ({"signature": "rogue", "header": {"kid": "unknown"}}, UNLISTED),
        ({"signature": "rogue", "header": {"kid": ABSENT}}, INVALID),
        ({"signature": "new"}, UNLISTED),
        ({"signature": "none"}, ALGORITHM),
        ({"signature": "secret"}, ALGORITHM),
        ({"signature": "secret", "header": {"kid": ABSENT}}, ALGORITHM),
    ]
    actual = [(token, *refused(issuer, caplog, identity_token=token)) for token, _ in cases]
    assert actual == [(token, 502, reason) for token, reason in cases]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_members_that_the_service_does_not_use_may_be_nested(issuer: Provider) -> None:
    """The cache could not store them."""
    issuer.behave(configuration={"changes": {"more": nested(600)}}, keys={"more_of_key": nested(600)})
    client = browser()
    assert log_in(client).status_code == 302
    assert logged_in_as(client) == "ada@example.com"


@for_each("header", [{}, {"kid": ABSENT}])
def test_identity_tokens_that_hold_are_accepted(header: dict[str, str], issuer: Provider) -> None:
    audience = [server.CLIENT_ID]
    issuer.behave(identity_token={"claims": {"aud": audience, "azp": server.CLIENT_ID}, "header": header})
    client = browser()
    assert log_in(client).status_code == 302
    assert logged_in_as(client) == "ada@example.com"


def test_malformed_subjects_are_refused(issuer: Provider, caplog: pytest.LogCaptureFixture) -> None:
    for subject, reason in (
        ("", "The identity provider sent an empty subject."),
        ("ada\ud800", "The identity provider sent a subject that is not Unicode."),
    ):
        issuer.say(**ADA, sub=subject)
        assert refused(issuer, caplog) == (502, reason)


def test_malformed_keys_are_refused(issuer: Provider, caplog: pytest.LogCaptureFixture) -> None:
    malformed = "The identity provider's list of keys is malformed."
    for keys, reason in ((3, malformed), (["a"], malformed), ([], UNLISTED), ([{"kty": "RSA"}], UNLISTED)):
        assert refused(issuer, caplog, keys={"changes": {"keys": keys}}) == (502, reason)


def test_new_keys_of_the_provider_are_read_once(issuer: Provider) -> None:
    """The keys are in the cache when the provider replaces them."""
    client = browser()
    assert log_in(client).status_code == 302
    issuer.behave(new_key=True, identity_token={"signature": "new"})
    for _ in range(2):
        assert log_in(browser()).status_code == 302
    # The former key comes back. The service has asked for new ones a moment ago.
    issuer.behave()
    response = log_in(browser())
    assert (response.status_code, parse(response).texts["p"]) == (502, UNLISTED)
    cache.clear()
    assert log_in(browser()).status_code == 302


def test_a_promised_issuer_must_be_there(issuer: Provider, caplog: pytest.LogCaptureFixture) -> None:
    """RFC 9207"""
    promise = {"changes": {"authorization_response_iss_parameter_supported": True}}
    status, reason = refused(issuer, caplog, configuration=promise)
    assert (status, reason) == (403, "The provider did not confirm your identity. Try again.")
    client = browser()
    path = at_provider(client.post("/accounts/oidc/login/"))
    assert client.get(f"{path}&iss={issuer.issuer}").status_code == 302
    assert logged_in_as(client) == "ada@example.com"


def test_a_code_of_another_login_is_refused(issuer: Provider, caplog: pytest.LogCaptureFixture) -> None:
    client = browser()
    path = at_provider(client.post("/accounts/oidc/login/"))
    response = client.get(path.replace("code=", "code=x"))
    assert (response.status_code, logged_in_as(client)) == (403, None)


def test_a_redirect_does_not_take_the_secret_along(
    issuer: Provider, elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        manners = {"status": status, "headers": {"Location": elsewhere.url}}
        for name, answer in ANSWERS.items():
            assert refused(issuer, caplog, **{name: manners}) == (
                502,
                f"The identity provider redirects the request for its {answer}.",
            )
    assert elsewhere.received == []


def test_the_secret_is_form_encoded_before_it_is_joined(
    issuer: Provider, elsewhere: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    """RFC 6749, 2.3.1. The provider decodes it."""
    for methods in (["client_secret_basic"], ABSENT):
        cache.clear()
        issuer.behave(configuration={"changes": {"token_endpoint_auth_methods_supported": methods}})
        client = browser()
        assert log_in(client).status_code == 302
        assert logged_in_as(client) == "ada@example.com"
    User.objects.all().delete()
    changes = {"token_endpoint_auth_methods_supported": ABSENT, "token_endpoint": elsewhere.url}
    assert refused(issuer, caplog, configuration={"changes": changes}) == (
        502,
        "The identity provider refused its token with status 400, invalid_client.",
    )
    [(method, authorization, body)] = elsewhere.received
    assert (method, authorization is not None) == ("POST", True)
    client_id, secret = b64decode(str(authorization).removeprefix("Basic ")).decode().split(":")
    assert (unquote_plus(client_id), unquote_plus(secret)) == (server.CLIENT_ID, server.CLIENT_SECRET)
    assert b"client_secret" not in body


def test_errors_of_the_provider_are_named_without_its_words(
    issuer: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    for body, code in (
        ('{"error": "invalid_client", "error_description": "a secret"}', "invalid_client"),
        ('{"error": "<b>\\r\\n"}', "no error code"),
        ('{"error": {}}', "no error code"),
        ("{}", "no error code"),
    ):
        manners = {"status": "401 Unauthorized", "body": body}
        assert refused(issuer, caplog, token=manners) == (
            502,
            f"The identity provider refused its token with status 401, {code}.",
        )
