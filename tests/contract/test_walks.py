"""Walks through every list with pages, while entries are added and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple

import pytest
from django.utils.module_loading import import_string
from rest_framework.test import APIClient

from accounts.models import ScopedKey
from accounts.services import NewAccount
from accounts.token_issuers.services import create_issuer
from analytics.models import MissedCode
from domains.models import Domain
from events.webhooks.models import Delivery, Webhook
from links.models import Link, TagChange
from qrcodes.models import QrCode
from testing.accounts.accounts import bearer_client
from testing.accounts.keys import scoped_key
from testing.cases import for_each
from testing.links.walks import links_of, walked

MakeLink = Callable[..., dict[str, Any]]
NOW = datetime.now(UTC)


class Walked(NamedTuple):
    """A list: its ``name`` in the data, what identifies an entry, and how to add an entry and to remove the newest."""

    path: str
    name: str
    identity: str
    add: Callable[[], object]
    remove: Callable[[], object]
    query: dict[str, str] = {}  # never changed
    takes_token: bool = False


@pytest.fixture
def lists(alice: NewAccount, api: APIClient, make_link: MakeLink) -> dict[str, Walked]:
    numbers, link = count(), make_link()
    owner = alice.workspace
    domain = Domain.objects.create(owner=owner, domain="a.example", host="a.example", status="active")
    webhook = Webhook.objects.create(workspace=owner, name="Shop", format="standard", types=["link.created"])

    def add_domain() -> None:
        host = f"{next(numbers)}.example"
        Domain.objects.create(owner=owner, domain=host, host=host, status="active")

    def add_tag_change() -> None:
        TagChange.objects.create(
            owner=owner,
            action="renamed",
            status="done",
            key="a",
            name="a",
            had_row=False,
            makes_row=False,
            author={},
            position=0,
        )

    def add_code() -> None:
        body = {"urlId": link["_id"], "size": 100 + next(numbers)}
        assert api.post("/api/qr-codes", body).status_code == 201

    def delete_link() -> None:
        assert api.delete(f"/api/urls/{make_link()['_id']}").status_code == 200

    def restore() -> None:
        newest = api.get("/api/urls/deleted").json()["data"]["urls"][0]["_id"]
        assert api.post(f"/api/urls/{newest}/undelete", {}).status_code == 200

    def add_missed_code() -> None:
        number = next(numbers)
        MissedCode.objects.create(
            domain_id=domain.pk,
            day=NOW.date(),
            code=f"code{number}",
            hits=number % 3,
            last_at=NOW,
            referrers="",
        )

    def add_delivery() -> None:
        Delivery.objects.create(
            webhook=webhook, message_id=webhook.public_id, type="link.created", first_time=NOW, last_time=NOW
        )

    def change() -> None:
        api.put(f"/api/urls/{link['_id']}", {"title": str(next(numbers))})

    def add_issuer() -> None:
        create_issuer(
            workspace=owner,
            creator=alice.user,
            name="Deploy",
            scopes=["urls:read"],
            issuer="https://issuer.example",
            audience="https://sho.rt",
            subject=str(next(numbers)),
        )

    def delete_newest(objects: Any) -> Callable[[], None]:
        return lambda: objects.order_by("-pk").first().delete()

    def tag() -> None:
        make_link(tags=[f"tag{next(numbers):03}", "all"])

    def stay() -> None:
        """These entries stay."""

    untag = delete_newest(Link.objects.filter(tags__len=2))
    codes = f"/api/domains/{domain.public_id}/unknown-codes"
    return {
        "domains": Walked("/api/domains", "domains", "_id", add_domain, delete_newest(Domain.objects)),
        "keys": Walked(
            "/api/keys",
            "keys",
            "_id",
            lambda: scoped_key(owner, alice.user),
            delete_newest(ScopedKey.objects),
            takes_token=True,
        ),
        "token issuers": Walked(
            "/api/token-issuers",
            "issuers",
            "_id",
            add_issuer,
            delete_newest(ScopedKey.objects),
            takes_token=True,
        ),
        "tag changes": Walked(
            "/api/tag-changes", "changes", "_id", add_tag_change, delete_newest(TagChange.objects)
        ),
        "tags": Walked("/api/tags", "tags", "name", tag, untag),
        "tags, backward": Walked("/api/tags", "tags", "name", tag, untag, {"sortOrder": "desc"}),
        "tags by links": Walked("/api/tags", "tags", "name", tag, untag, {"sortBy": "linkCount"}),
        "tags by links, falling": Walked(
            "/api/tags", "tags", "name", tag, untag, {"sortBy": "linkCount", "sortOrder": "desc"}
        ),
        "codes": Walked("/api/qr-codes", "qrCodes", "_id", add_code, delete_newest(QrCode.objects)),
        "deleted links": Walked("/api/urls/deleted", "urls", "_id", delete_link, restore),
        "unknown codes": Walked(codes, "codes", "code", add_missed_code, stay),
        "deliveries": Walked(
            f"/api/webhooks/{webhook.public_id}/deliveries",
            "deliveries",
            "_id",
            add_delivery,
            delete_newest(Delivery.objects),
        ),
        "history": Walked(f"/api/urls/{link['_id']}/history", "changes", "_id", change, stay),
        "audit": Walked("/api/audit", "changes", "_id", change, stay),
    }


NAMES = (
    *(
        "domains",
        "keys",
        "token issuers",
        "tag changes",
        "tags",
        "tags, backward",
        "tags by links",
        "tags by links, falling",
    ),
    *("codes", "deleted links", "unknown codes", "deliveries", "history", "audit"),
)


@for_each("name", NAMES)
def test_a_walk_finds_exactly_what_is_there_all_the_time(
    name: str, lists: dict[str, Walked], alice: NewAccount, api: APIClient
) -> None:
    walk = lists[name]
    client = bearer_client(alice.user) if walk.takes_token else api
    for _ in range(9):
        walk.add()
    # Entries that the walk may meet or not.
    for _ in range(3):
        walk.add()
    query = {"limit": 2, **walk.query}
    before = [entry[walk.identity] for entry in walked(client, walk.path, walk.name, query)]
    assert len(before) == len(set(before)) >= 12

    def others() -> None:
        walk.remove()
        walk.add()

    met = [
        entry[walk.identity]
        for entry in walked(client, walk.path, walk.name, query, between=others_of(others))
    ]
    after = {entry[walk.identity] for entry in walked(client, walk.path, walk.name, query)}
    assert len(met) == len(set(met))
    assert set(before) & after <= set(met)


def others_of(others: Callable[[], object], most: int = 3) -> Callable[[], object]:
    """As many times as there are entries to remove; a walk would never end among new ones."""
    calls: Iterator[int] = iter(range(most))
    return lambda: others() if next(calls, None) is not None else None


@for_each("name", [name for name in NAMES if name not in ("deliveries", "history", "audit")])
def test_a_walk_leads_back_to_its_start(
    name: str, lists: dict[str, Walked], alice: NewAccount, api: APIClient
) -> None:
    walk = lists[name]
    client = bearer_client(alice.user) if walk.takes_token else api
    for _ in range(5):
        walk.add()
    first = client.get(walk.path, {"limit": 2, **walk.query})
    second = client.get(links_of(first)["next"])
    back = client.get(links_of(second)["prev"])
    assert back.json() == first.json()
    assert links_of(back).keys() == {"next"}
    numbered = client.get(walk.path, {"limit": 2, "page": 2, **walk.query})
    assert numbered.json() == second.json()
    assert links_of(numbered).keys() == links_of(second).keys() == {"next", "prev"}


@for_each(
    ("name", "reading", "is_added"),
    [
        ("codes", "qrcodes.selectors.rows_from_place", True),
        ("tag changes", "links.tags.changes.rows_of", False),
    ],
)
def test_a_change_between_the_count_and_the_rows_hides_no_entry(
    name: str,
    reading: str,
    is_added: bool,
    lists: dict[str, Walked],
    api: APIClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An entry is added after the count and before the rows are read, or removed after them and before the count."""
    walk, read = lists[name], import_string(reading)
    for _ in range(3 if is_added else 4):
        walk.add()
    oldest = api.get(walk.path).json()["data"][walk.name][-1]

    def changed(*arguments: Any) -> Any:
        if is_added:
            walk.add()
        rows = read(*arguments)
        if not is_added:
            walk.remove()
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(reading, changed)
        first = api.get(walk.path, {"limit": 3})
    assert first.json()["data"]["pagination"] == {"page": 1, "limit": 3, "total": 3, "pages": 1}
    assert api.get(links_of(first)["next"]).json()["data"][walk.name] == [oldest]
