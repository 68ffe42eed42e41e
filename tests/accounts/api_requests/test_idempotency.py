"""An Idempotency-Key creates one object, however often and from whatever host the request is repeated."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.api_requests.idempotency import delete_expired_responses
from accounts.models import StoredResponse
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
