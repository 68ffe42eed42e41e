"""An Idempotency-Key creates one object, however often and from whatever host the request is repeated."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.api_requests import idempotency
from accounts.api_requests.idempotency import delete_expired_responses
from accounts.models import StoredResponse
from accounts.services import NewAccount
from domains.models import Domain
from links.models import Code, Link
from qrcodes.models import QrCode
from tests.accounts.api_requests.idempotent import LINK, count_stored, create, is_replayed


def test_a_repeated_request_creates_one_link_and_gets_the_same_response(api: APIClient) -> None:
    first = create(api, "order-1")
    again = [create(api, "order-1") for _ in range(3)]

    assert (first.status_code, is_replayed(first)) == (201, False)
    assert [(response.status_code, is_replayed(response), response.content) for response in again] == [
        (201, True, first.content)
    ] * 3
    assert again[0]["Content-Type"] == "application/json"
    assert Link.objects.count() == 1


def test_a_repeated_request_claims_a_domain_once(api: APIClient) -> None:
    body = {"domain": "example.com", "subdomain": "go"}
    first, again = (create(api, "k", body, "/api/domains") for _ in range(2))

    assert (first.status_code, again.status_code, is_replayed(again)) == (201, 201, True)
    assert again.content == first.content
    assert Domain.objects.count() == 1


def test_a_repeated_request_creates_a_qr_code_once(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    body = {"urlId": make_link()["_id"], "size": 500}
    first, again = (create(api, "k", body, "/api/qr-codes") for _ in range(2))

    assert (first.status_code, again.status_code, is_replayed(again)) == (201, 201, True)
    assert again.content == first.content
    assert QrCode.objects.count() == 1


def test_the_first_response_is_repeated_even_after_the_link_has_changed(api: APIClient) -> None:
    first = create(api, "k")
    path = f"/api/urls/{first.json()['data']['url']['_id']}"
    api.put(path, {"title": "Summer"})
    assert create(api, "k").content == first.content
    api.delete(path)
    assert create(api, "k").content == first.content
    assert Link.objects.count() == 0


def test_without_a_key_every_request_creates_a_link(api: APIClient) -> None:
    assert [api.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code for _ in range(2)] == [
        201
    ] * 2
    assert (Link.objects.count(), count_stored()) == (2, 0)


def test_other_keys_create_other_links(api: APIClient) -> None:
    body = {"originalUrl": "https://example.com/"}
    responses = [create(api, key, body) for key in ("a", "A", "a a", "b")]

    assert [is_replayed(response) for response in responses] == [False, False, False, False]
    assert Link.objects.count() == 4


def test_accounts_do_not_share_keys(api: APIClient, strange_api: APIClient) -> None:
    body = {"originalUrl": "https://example.com/"}
    first, of_stranger = create(api, "k", body), create(strange_api, "k", body)

    assert (of_stranger.status_code, is_replayed(of_stranger)) == (201, False)
    assert of_stranger.content != first.content
    assert Link.objects.count() == 2


def test_key_and_token_of_an_account_share_keys(api: APIClient, bearer: APIClient) -> None:
    assert create(bearer, "k").content == create(api, "k").content


def test_other_endpoints_ignore_the_header(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> None:
    path = f"/api/urls/{make_link()['_id']}"
    for number in range(2):
        response = api.put(path, {"title": f"{number}"}, headers={"idempotency-key": "x" * 300})
        assert (response.status_code, response.json()["data"]["url"]["title"]) == (200, f"{number}")
    assert count_stored() == 0


def test_responses_are_kept_for_a_day(api: APIClient) -> None:
    create(api, "k")

    def age(**by: float) -> None:
        StoredResponse.objects.update(created_at=F("created_at") - timedelta(**by))

    age(hours=24, seconds=-30)
    assert (delete_expired_responses(), is_replayed(create(api, "k"))) == (0, True)
    age(seconds=31)
    assert (delete_expired_responses(), delete_expired_responses()) == (1, 0)
    assert StoredResponse.objects.filter(created_at__lt=timezone.now()).count() == 0
    Link.objects.update(custom_code=None)
    Code.objects.all().delete()
    assert is_replayed(create(api, "k")) is False


def test_no_response_is_readable_in_the_table(api: APIClient, settings: Settings) -> None:
    create(api, "secret-key", {**LINK, "password": "open sesame"})

    [stored] = StoredResponse.objects.all()
    dump = bytes(stored.sealed) + bytes(stored.key_digest)
    for word in (b"example.com", b"Spring", b"secret-key", b"open sesame"):
        assert word not in dump
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert is_replayed(create(api, "secret-key", {**LINK, "password": "open sesame"})) is True
    settings.SECRET_KEY_FALLBACKS = []
    assert create(api, "secret-key", {**LINK, "password": "open sesame"}).status_code == 422


def test_a_replay_needs_few_queries(
    api: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    create(api, "k")

    # The account, the savepoint of the test, the lock, the stored response.
    with django_assert_num_queries(5):
        assert is_replayed(create(api, "k"))


@pytest.mark.parametrize(
    "body",
    [
        {**LINK, "title": "Summer"},
        {**LINK, "password": "x"},
        {"originalUrl": LINK["originalUrl"]},
        {**LINK, "unknown": 1},
        {},
        {"originalUrl": 5},
    ],
)
def test_a_different_body_is_422(api: APIClient, body: dict[str, Any]) -> None:
    create(api, "k")

    refused = create(api, "k", body)

    assert (refused.status_code, refused.json()) == (
        422,
        {
            "success": False,
            "message": "This Idempotency-Key was already used with a different request.",
            "code": "idempotency_mismatch",
        },
    )
    assert (Link.objects.count(), is_replayed(create(api, "k"))) == (1, True)


def test_a_different_endpoint_is_422(api: APIClient) -> None:
    first = create(api, "k")
    body = {"urlId": first.json()["data"]["url"]["_id"]}

    assert create(api, "k", body, "/api/qr-codes").status_code == 422
    assert QrCode.objects.count() == 0


@pytest.mark.parametrize("text", ['{"title": "Spring", "originalUrl": "https://example.com/page"}'])
def test_the_same_body_with_different_formatting_is_the_same(api: APIClient, text: str) -> None:
    first = create(api, "k", {"originalUrl": "https://example.com/page", "title": "Spring"})
    again = api.generic("POST", "/api/urls", text, "application/json", headers={"idempotency-key": "k"})

    assert (again.content, is_replayed(again)) == (first.content, True)


@pytest.mark.parametrize(
    "key", ["x", "x" * 255, "8e03978e-40d5-43e8-bc93-6894a57f9324", '"quoted"', "a b;c=d,%00 ~"]
)
def test_a_key_may_be_any_printable_text(api: APIClient, key: str) -> None:
    assert [is_replayed(create(api, key)) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("key", ["", " ", "a ", "x" * 256, "x" * 5000, "é", "a\tb", "a\0b", "a\x7f"])
def test_an_invalid_key_is_400(api: APIClient, key: str) -> None:
    refused = create(api, key)

    assert refused.status_code == 400
    assert refused.json()["errors"] == [
        {
            "field": "Idempotency-Key",
            "code": "invalid",
            "message": "Must have 1 to 255 printable ASCII characters.",
        }
    ]
    assert Link.objects.count() == 0


@pytest.mark.parametrize(
    "body", [{}, {"originalUrl": "ftp://example.com/"}, {**LINK, "redirectType": 10**30}]
)
def test_an_invalid_request_does_not_use_the_key(api: APIClient, body: dict[str, Any]) -> None:
    assert create(api, "k", body).status_code == 400
    assert count_stored() == 0

    assert (create(api, "k").status_code, Link.objects.count()) == (201, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (LINK, 409),
        ({**LINK, "customCode": "admin"}, 409),
        ({**LINK, "customCode": "other", "domainId": "01890000-0000-7000-8000-000000000000"}, 404),
    ],
)
def test_a_refused_request_creates_nothing_and_is_checked_again(
    api: APIClient, strange_api: APIClient, body: dict[str, Any], status: int
) -> None:
    strange_api.post("/api/urls", LINK)

    assert create(api, "k", body).status_code == status
    assert count_stored() == 0
    assert create(api, "k", {**LINK, "customCode": "mine"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_code_becomes_free_between_two_attempts(api: APIClient) -> None:
    """A statement that fails reveals the hold of a deleted link, inside a transaction as well as outside."""
    link = api.post("/api/urls", LINK).json()["data"]["url"]
    assert create(api, "k").status_code == 409
    api.delete(f"/api/urls/{link['_id']}")

    assert [(create(api, "k").status_code, Link.objects.count()) for _ in range(2)] == [(201, 1)] * 2


@pytest.mark.django_db(transaction=True)
def test_a_server_error_stores_neither_link_nor_response(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> bytes:
        raise RuntimeError("no space")

    api.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(idempotency.secrets, "seal", fail)
        assert create(api, "k").status_code == 500
    assert (Link.objects.count(), Code.objects.count(), count_stored()) == (0, 0, 0)

    assert [is_replayed(create(api, "k")) for _ in range(2)] == [False, True]


def import_call(client: APIClient, key: str, *, dry_run: bool) -> Any:
    body = {"content": "originalUrl\nhttps://example.com/\n", "dryRun": dry_run}
    return create(client, key, body, "/api/urls/import")


def test_the_response_of_a_dry_run_is_not_stored(api: APIClient) -> None:
    for _ in range(2):
        response = import_call(api, "k", dry_run=True)
        assert (response.status_code, is_replayed(response)) == (200, False)
    assert count_stored() == 0
    # It has not used the key either.
    first, again = (import_call(api, "k", dry_run=False) for _ in range(2))
    assert (is_replayed(first), is_replayed(again), again.content) == (False, True, first.content)
    assert import_call(api, "k", dry_run=True).json()["data"]["dryRun"] is True
    assert (count_stored(), Link.objects.count()) == (1, 1)


@pytest.fixture
def little_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Space for one of the responses below and part of a second one."""
    monkeypatch.setattr(idempotency, "MB", 12)


def fill(client: APIClient) -> list[int]:
    return [create(client, f"fill-{n}", {"originalUrl": LINK["originalUrl"]}).status_code for n in range(4)]


def test_the_stored_responses_of_an_account_have_a_size_limit(
    little_storage: None, api: APIClient, strange_api: APIClient
) -> None:
    assert fill(api) == [201, 201, 429, 429]
    refused = create(api, "another")
    assert refused.json() == {
        "success": False,
        "code": "idempotency_full",
        "message": "The stored responses of this account's Idempotency-Keys have reached their size limit. "
        "Send the request without a key, or retry later.",
        "retryAfter": int(refused.headers["Retry-After"]),
    }
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    # Nothing was created, stored responses are still replayed, and requests without a key succeed.
    assert Link.objects.count() == 2
    assert is_replayed(create(api, "fill-0", {"originalUrl": LINK["originalUrl"]}))
    assert api.post("/api/urls", LINK).status_code == 201
    assert create(strange_api, "k", {"originalUrl": LINK["originalUrl"]}).status_code == 201


def test_space_is_available_again_after_a_day(little_storage: None, api: APIClient) -> None:
    fill(api)
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(hours=24, minutes=1))
    assert create(api, "another").status_code == 201


def test_responses_of_other_processes_count_before_a_refusal_and_after_a_minute(
    little_storage: None, api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert create(api, "first", {"originalUrl": LINK["originalUrl"]}).status_code == 201
    # As if another process had stored it, which this process does not know yet.
    StoredResponse.objects.create(owner=alice.workspace, key_digest=b"x" * 32, sealed=b"x" * 2_000)
    assert create(api, "second", {"originalUrl": LINK["originalUrl"]}).status_code == 201
    monkeypatch.setattr(idempotency, "REFRESH_SECONDS", 0.0)
    assert create(api, "third", {"originalUrl": LINK["originalUrl"]}).status_code == 429
    # Responses deleted since do not cause a refusal.
    StoredResponse.objects.filter(key_digest=b"x" * 32).delete()
    StoredResponse.objects.exclude(pk=StoredResponse.objects.earliest("pk").pk).delete()
    assert create(api, "third", {"originalUrl": LINK["originalUrl"]}).status_code == 201


def test_zero_means_no_limit(little_storage: None, api: APIClient, settings: Settings) -> None:
    settings.IDEMPOTENCY_MB = 0
    assert fill(api) == [201] * 4


def test_a_call_that_ignores_the_key_says_so(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    link = make_link()
    named = {"idempotency-key": "a"}
    warning = {"field": "Idempotency-Key", "code": "ignored", "message": "This call ignores the header."}
    for response in (
        api.put(f"/api/urls/{link['_id']}", {"title": "a"}, headers=named),
        api.post("/api/urls/bulk-update", {"ids": [link["_id"]], "data": {"title": "b"}}, headers=named),
        api.delete(f"/api/urls/{link['_id']}", headers=named),
    ):
        assert (response.status_code, response.json()["warnings"]) == (200, [warning])
    assert "warnings" not in api.get("/api/urls", headers=named).json()
    created = api.post("/api/urls", {"originalUrl": "https://example.com/"}, headers=named)
    assert (created.status_code, "warnings" in created.json()) == (201, False)
