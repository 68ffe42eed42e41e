"""What a lookup says about a routed link."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from accounts.services import NewAccount
from bans.models import Ban
from bans.services import ban_host, lift_ban
from domains.models import Domain
from links.destinations import lookup
from links.destinations.known_links import known_links
from links.destinations.lookup import Target, load_target, read_target, recall_target
from links.models import Link
from links.operators import ban_link
from testing.links.many import URL
from testing.links.routing_fields import EVERYTHING, RULES, SPLIT

pytestmark = pytest.mark.django_db(transaction=True)

MakeLink = Callable[..., dict[str, Any]]


@pytest.mark.usefixtures("own_host_memory")
def test_routed_link_is_the_same_during_an_outage(make_link: MakeLink) -> None:
    code = make_link(**EVERYTHING)["shortCode"]
    target = load_target("sho.rt", code)
    known_links().flush()
    assert isinstance(target, Target)
    assert target.starts_at is not None
    assert recall_target("sho.rt", code) == target


@pytest.mark.usefixtures("own_host_memory")
def test_entry_of_another_release_is_unknown_during_an_outage(
    make_link: MakeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_link(**EVERYTHING)["shortCode"]
    monkeypatch.setattr(lookup, "FORMAT", lookup.FORMAT + 1)
    load_target("sho.rt", code)
    known_links().flush()
    assert recall_target("sho.rt", code) is not None
    monkeypatch.undo()
    assert recall_target("sho.rt", code) is None


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("legal", "legal"), (" Legal\t", "legal"), ("LEGAL ", "legal"), ("", "other"), ("spam", "other")],
)
def test_lookup_tells_legal_bans_from_others(
    reason: str, expected: str, make_link: MakeLink, alice: NewAccount
) -> None:
    link = make_link(split=SPLIT)

    def ban_reason() -> str | None:
        target = read_target("sho.rt", link["shortCode"])
        assert isinstance(target, Target)
        assert target.is_active is (target.ban_reason is None)
        return target.ban_reason

    assert ban_reason() is None
    host = ban_host(host="b.example.com", reason=reason)
    assert ban_reason() == expected
    lift_ban(ban=host)
    assert ban_reason() is None
    link_ban = ban_link(link=Link.objects.get(), reason=reason)
    assert ban_reason() == expected
    link_ban.delete()
    Ban.objects.create(owner=alice.workspace, reason=reason)
    assert ban_reason() == expected


def test_lookup_has_every_field_of_a_routed_link(make_link: MakeLink, brand: Domain) -> None:
    plain = read_target("sho.rt", make_link()["shortCode"])
    assert isinstance(plain, Target)
    assert not plain.is_restricted_beyond(
        frozenset(("link_id", "public_id", "location", "redirect_type", "clicks"))
    )
    Domain.objects.filter(pk=brand.pk).update(expired_url="https://brand.example/over")
    link = make_link(
        startsAt="2030-01-01T00:00:00Z", notStartedUrl=URL, forwardQuery=True, referrerPolicy="origin", rules=RULES,
        split=SPLIT, preview={"title": "x"}, utm={"source": "mail"}, domainId=str(brand.public_id),
    )  # fmt: skip
    target = read_target("go.brand.example", link["shortCode"])
    assert isinstance(target, Target)
    stored = Link.objects.get(public_id=link["_id"])
    assert (target.location, target.starts_at) == (f"{URL}?utm_source=mail", stored.starts_at)
    assert (target.not_started_url, target.expired_url) == (URL, "https://brand.example/over")
    assert (target.referrer_policy, json.loads(target.preview or "")) == (
        "origin",
        {"title": "x", "description": None, "imageUrl": None},
    )
    assert json.loads(target.routing or "") == {
        "forward": True,
        "rules": stored.rules,
        "split": stored.split,
        "utm": {"source": "mail"},
    }
    Link.objects.filter(pk=stored.pk).update(expired_url="https://example.com/over")
    target = read_target("go.brand.example", link["shortCode"])
    assert isinstance(target, Target)
    assert target.expired_url == "https://example.com/over"
