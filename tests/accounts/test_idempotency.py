"""Creating with an Idempotency-Key: once, however often and from wherever the request comes."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connections
from django.db.models import F, Model
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries, Settings
from rest_framework.response import Response
from rest_framework.test import APIClient

from accounts import idempotency
from accounts.idempotency import forget_old_answers
from accounts.models import IdempotentAnswer
from accounts.services import NewAccount
from domains.models import Domain
from domains.services import delete_domain
from links.insert import insert_link
from links.models import Code, Link
from qrcodes.models import QrCode
from tests.conftest import key_client
from tests.links.threads import at_once

LINK = {"originalUrl": "https://example.com/page", "title": "Spring", "customCode": "spring"}


def create(client: APIClient, key: str, body: Any = LINK, path: str = "/api/urls") -> Any:
    return client.post(path, body, headers={"idempotency-key": key})


def is_replayed(response: Any) -> bool:
    assert response.get("Idempotent-Replayed") in (None, "true")
    return "Idempotent-Replayed" in response


def answers_kept() -> int:
    return IdempotentAnswer.objects.count()


def test_sent_again_a_link_is_created_once_and_answered_the_same(api: APIClient) -> None:
    first = create(api, "order-1")
    again = [create(api, "order-1") for _ in range(3)]

    assert (first.status_code, is_replayed(first)) == (201, False)
    assert [(each.status_code, is_replayed(each), each.content) for each in again] == [
        (201, True, first.content)
    ] * 3
    assert again[0]["Content-Type"] == "application/json"
    assert Link.objects.count() == 1


def test_sent_again_a_domain_is_claimed_once(api: APIClient) -> None:
    body = {"domain": "example.com", "subdomain": "go"}
    first, again = (create(api, "k", body, "/api/domains") for _ in range(2))

    assert (first.status_code, again.status_code, is_replayed(again)) == (201, 201, True)
    assert again.content == first.content
    assert Domain.objects.count() == 1


def test_sent_again_a_qr_code_is_made_once(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> None:
    body = {"urlId": make_link()["_id"], "size": 500}
    first, again = (create(api, "k", body, "/api/qr-codes") for _ in range(2))

    assert (first.status_code, again.status_code, is_replayed(again)) == (201, 201, True)
    assert again.content == first.content
    assert QrCode.objects.count() == 1


def test_the_first_answer_is_given_whatever_has_become_of_the_link(api: APIClient) -> None:
    first = create(api, "k")
    path = f"/api/urls/{first.json()['data']['url']['_id']}"
    api.put(path, {"title": "Summer"})
    assert create(api, "k").content == first.content
    api.delete(path)
    assert create(api, "k").content == first.content
    assert Link.objects.count() == 0


def test_without_a_key_every_request_creates(api: APIClient) -> None:
    assert [api.post("/api/urls", {"originalUrl": "https://example.com/"}).status_code for _ in range(2)] == [
        201
    ] * 2
    assert (Link.objects.count(), answers_kept()) == (2, 0)


def test_other_keys_create_other_links(api: APIClient) -> None:
    body = {"originalUrl": "https://example.com/"}
    answers = [create(api, key, body) for key in ("a", "A", "a a", "b")]

    assert [is_replayed(answer) for answer in answers] == [False, False, False, False]
    assert Link.objects.count() == 4


def test_accounts_do_not_share_keys(api: APIClient, strange_api: APIClient) -> None:
    body = {"originalUrl": "https://example.com/"}
    first, theirs = create(api, "k", body), create(strange_api, "k", body)

    assert (theirs.status_code, is_replayed(theirs)) == (201, False)
    assert theirs.content != first.content
    assert Link.objects.count() == 2


def test_key_and_token_of_an_account_share_keys(api: APIClient, bearer: APIClient) -> None:
    assert create(bearer, "k").content == create(api, "k").content


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
def test_another_body_is_422(api: APIClient, body: dict[str, Any]) -> None:
    create(api, "k")

    refused = create(api, "k", body)

    assert (refused.status_code, refused.json()) == (
        422,
        {
            "success": False,
            "message": "This Idempotency-Key was sent with another request.",
            "code": "idempotency_mismatch",
        },
    )
    assert (Link.objects.count(), is_replayed(create(api, "k"))) == (1, True)


def test_another_endpoint_is_422(api: APIClient) -> None:
    first = create(api, "k")
    body = {"urlId": first.json()["data"]["url"]["_id"]}

    assert create(api, "k", body, "/api/qr-codes").status_code == 422
    assert QrCode.objects.count() == 0


@pytest.mark.parametrize("text", ['{"title": "Spring", "originalUrl": "https://example.com/page"}'])
def test_the_same_body_in_other_words_is_the_same(api: APIClient, text: str) -> None:
    first = create(api, "k", {"originalUrl": "https://example.com/page", "title": "Spring"})
    again = api.generic("POST", "/api/urls", text, "application/json", headers={"idempotency-key": "k"})

    assert (again.content, is_replayed(again)) == (first.content, True)


@pytest.mark.parametrize(
    "key", ["x", "x" * 255, "8e03978e-40d5-43e8-bc93-6894a57f9324", '"quoted"', "a b;c=d,%00 ~"]
)
def test_a_key_may_be_any_printable_text(api: APIClient, key: str) -> None:
    assert [is_replayed(create(api, key)) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("key", ["", " ", "a ", "x" * 256, "x" * 5000, "é", "a\tb", "a\0b", "a\x7f"])
def test_a_key_that_cannot_be_one_is_400(api: APIClient, key: str) -> None:
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
def test_what_is_not_valid_uses_no_key_up(api: APIClient, body: dict[str, Any]) -> None:
    assert create(api, "k", body).status_code == 400
    assert answers_kept() == 0

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
def test_a_refusal_created_nothing_and_is_judged_anew(
    api: APIClient, strange_api: APIClient, body: dict[str, Any], status: int
) -> None:
    strange_api.post("/api/urls", LINK)

    assert create(api, "k", body).status_code == status
    assert answers_kept() == 0
    assert create(api, "k", {**LINK, "customCode": "mine"}).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_a_code_becomes_free_between_two_tries(api: APIClient) -> None:
    """The hold of a deleted link is found by a statement that fails: inside a transaction like outside of one."""
    link = api.post("/api/urls", LINK).json()["data"]["url"]
    assert create(api, "k").status_code == 409
    api.delete(f"/api/urls/{link['_id']}")

    assert [(create(api, "k").status_code, Link.objects.count()) for _ in range(2)] == [(201, 1)] * 2


@pytest.mark.django_db(transaction=True)
def test_a_failure_on_our_side_leaves_neither_link_nor_answer(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> bytes:
        raise RuntimeError("no space")

    api.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(idempotency.secrets, "seal", fail)
        assert create(api, "k").status_code == 500
    assert (Link.objects.count(), Code.objects.count(), answers_kept()) == (0, 0, 0)

    assert [is_replayed(create(api, "k")) for _ in range(2)] == [False, True]


def test_elsewhere_the_header_means_nothing(api: APIClient, make_link: Callable[..., dict[str, Any]]) -> None:
    path = f"/api/urls/{make_link()['_id']}"
    for number in range(2):
        answer = api.put(path, {"title": f"{number}"}, headers={"idempotency-key": "x" * 300})
        assert (answer.status_code, answer.json()["data"]["url"]["title"]) == (200, f"{number}")
    assert answers_kept() == 0


def test_answers_are_kept_for_a_day(api: APIClient) -> None:
    create(api, "k")

    def age(**by: float) -> None:
        IdempotentAnswer.objects.update(created_at=F("created_at") - timedelta(**by))

    age(hours=24, seconds=-30)
    assert (forget_old_answers(), is_replayed(create(api, "k"))) == (0, True)
    age(seconds=31)
    assert (forget_old_answers(), forget_old_answers()) == (1, 0)
    assert IdempotentAnswer.objects.filter(created_at__lt=timezone.now()).count() == 0
    Link.objects.update(custom_code=None)
    Code.objects.all().delete()
    assert is_replayed(create(api, "k")) is False


def test_nothing_of_an_answer_can_be_read_in_the_table(api: APIClient, settings: Settings) -> None:
    create(api, "secret-key", {**LINK, "password": "open sesame"})

    [kept] = IdempotentAnswer.objects.all()
    dump = bytes(kept.sealed) + bytes(kept.key_digest)
    for word in (b"example.com", b"Spring", b"secret-key", b"open sesame"):
        assert word not in dump
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" + "y" * 50, [settings.SECRET_KEY]
    assert is_replayed(create(api, "secret-key", {**LINK, "password": "open sesame"})) is True
    settings.SECRET_KEY_FALLBACKS = []
    assert create(api, "secret-key", {**LINK, "password": "open sesame"}).status_code == 422


def test_a_replay_is_cheap(api: APIClient, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    create(api, "k")

    # The account, the savepoint of the test, the lock, the answer.
    with django_assert_num_queries(5):
        assert is_replayed(create(api, "k"))


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_one_creates(alice: NewAccount) -> None:
    def send() -> tuple[int, bool, bytes]:
        answer = create(key_client(alice.api_key), "k")
        return answer.status_code, is_replayed(answer), answer.content

    answers = at_once([send] * 50)

    kinds = Counter((status, replayed) for status, replayed, _ in answers)
    assert kinds[201, False] == 1
    assert set(kinds) <= {(201, False), (201, True), (409, False)}
    assert len({content for status, _, content in answers if status == 201}) == 1
    assert (Link.objects.count(), answers_kept()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_twin_is_told_that_the_first_is_under_way(
    alice: NewAccount, strange_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = key_client(alice.api_key)
    told: list[Any] = []

    def twins(password: str) -> str:
        """While the first request is hashing its password."""
        monkeypatch.undo()
        told.extend(
            at_once([lambda: create(key_client(alice.api_key), "k"), lambda: create(strange_api, "k")])
        )
        return make_password(password)

    monkeypatch.setattr("links.rules.make_password", twins)
    first = create(api, "k", {**LINK, "customCode": "first", "password": "x"})

    assert first.status_code == 201
    assert [answer.status_code for answer in told] == [409, 201]
    assert told[0].json() == {
        "success": False,
        "message": "A request with this Idempotency-Key is being carried out. Send it again in a moment.",
        "code": "idempotency_in_progress",
    }


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def save_and_die(self: Model, **options: Any) -> None:
    Model.save(self, **options)
    die()


# Where it is killed, and how many links there are then.
POINTS = {
    "with the link written": ((idempotency.secrets, "seal", die), 0),
    "with the answer written": ((IdempotentAnswer, "save", save_and_die), 0),
    "with both committed": ((Response, "rendered_content", property(die)), 1),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("point", POINTS)
def test_wherever_it_is_killed_sending_it_again_is_safe(alice: NewAccount, point: str) -> None:
    patch, links = POINTS[point]
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        try:
            setattr(*patch)
            create(key_client(alice.api_key), "k")
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    assert (Link.objects.count(), answers_kept()) == (links, links)

    again = create(key_client(alice.api_key), "k")

    assert (again.status_code, is_replayed(again)) == (201, links == 1)
    assert (Link.objects.count(), answers_kept()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_domain_that_is_deleted_meanwhile_is_404_as_without_a_key(
    api: APIClient, alice: NewAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain.objects.create(
        owner=alice.user, domain="go.brand.example", host="go.brand.example", status="active"
    )

    def insert_too_late(*values: Any) -> bool:
        at_once([lambda: delete_domain(owner=alice.user, public_id=str(domain.public_id))])
        return insert_link(*values)

    monkeypatch.setattr("links.services.insert_link", insert_too_late)
    refused = create(api, "k", {**LINK, "domainId": str(domain.public_id)})

    assert (refused.status_code, refused.json()["message"]) == (404, "Domain not found.")
    assert (Link.objects.count(), answers_kept()) == (0, 0)
