"""Updates on the condition of a version: the ETag of a read, sent as If-Match."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from rest_framework.test import APIClient

from accounts.services import NewAccount
from common.rest.fields import iso_utc
from domains.models import Domain
from links.models import Link
from testing.analytics.clicks import drain
from testing.links.calls import address
from testing.threads import at_once

MakeLink = Callable[..., dict[str, Any]]
# One that the database changes in a single statement, and one for which it locks the link first.
CHANGES = [{"title": "new"}, {"customCode": "summer"}]


def etag_of(api: APIClient, link: dict[str, Any]) -> str:
    response = api.get(address(link))
    assert response.status_code == 200
    return response["ETag"]


def put(api: APIClient, link: dict[str, Any], body: dict[str, Any], if_match: str) -> Any:
    return api.put(address(link), body, headers={"if-match": if_match})


@pytest.mark.parametrize("changes", CHANGES, ids=["statement", "lock"])
def test_update_of_the_current_version_succeeds(
    changes: dict[str, Any], api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    response = put(api, link, changes, etag_of(api, link))
    assert response.status_code == 200
    assert response["ETag"] == etag_of(api, link)


@pytest.mark.parametrize("changes", CHANGES, ids=["statement", "lock"])
def test_update_of_a_former_version_changes_nothing_and_says_who_changed_it(
    changes: dict[str, Any], alice: NewAccount, api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    former = etag_of(api, link)
    assert api.put(address(link), {"description": "other"}).status_code == 200
    [change] = api.get(f"{address(link)}/history").json()["data"]["changes"]
    row = Link.objects.values().get()
    response = put(api, link, changes, former)
    body = response.json()
    assert response.status_code == 412
    assert (body["success"], body["code"]) == (False, "changed_meanwhile")
    assert body["data"] == {"changedAt": change["changedAt"], "changedBy": str(alice.user.public_id)}
    assert body["message"] == f"This URL was changed meanwhile by Ada Lovelace at {change['changedAt']}."
    assert Link.objects.values().get() == row


@pytest.mark.parametrize("changes", CHANGES, ids=["statement", "lock"])
def test_refused_update_does_not_name_the_author_of_the_version_that_the_client_has(
    changes: dict[str, Any], api: APIClient, make_link: MakeLink
) -> None:
    """An update with equal values makes a version, but has no entry in the history."""
    link = make_link()
    for former_change in ({"description": "a"}, {"customCode": "winter", "description": "b"}):
        assert api.put(address(link), former_change).status_code == 200
        former = etag_of(api, link)
        assert api.put(address(link), former_change).status_code == 200
        changed_at = api.get(address(link)).json()["data"]["url"]["updatedAt"]
        refused = put(api, link, changes, former)
        assert refused.status_code == 412
        assert refused.json()["data"] == {"changedAt": changed_at, "changedBy": None}
        assert refused.json()["message"] == f"This URL was changed meanwhile at {changed_at}."


@pytest.mark.parametrize("changes", CHANGES, ids=["statement", "lock"])
def test_conditional_update_of_an_unknown_link_is_404(
    changes: dict[str, Any], api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    etag = etag_of(api, link)
    for if_match in (etag, '"0"', "*"):
        assert put(strange_api, link, changes, if_match).status_code == 404


@pytest.mark.parametrize(
    ("template", "status"),
    [
        ("{}", 200),
        ("*", 200),
        ('"0", {}', 200),
        ("W/{}", 412),
        ('"0"', 412),
        ('"ffffffffffffffff"', 412),
        ('"another kind of tag"', 412),
        ("abc", 400),
        ("", 400),
    ],
)
def test_forms_of_if_match(template: str, status: int, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    response = put(api, link, {"title": "new"}, template.format(etag_of(api, link)))
    assert response.status_code == status
    assert response.json().get("code") == {400: "bad_if_match", 412: "changed_meanwhile"}.get(status)


def test_every_change_has_a_new_version_although_the_clock_is_behind(
    api: APIClient, make_link: MakeLink, brand: Domain
) -> None:
    link = make_link(domainId=str(brand.public_id))
    Link.objects.update(updated_at=F("updated_at") + timedelta(days=1))
    versions = [etag_of(api, link)]
    for change in (
        lambda: api.put(address(link), {"title": "a"}),
        lambda: api.put(address(link), {"customCode": "summer"}),
        lambda: api.post("/api/urls/bulk-update", {"ids": [link["_id"]], "data": {"title": "b"}}),
        lambda: api.delete(f"/api/domains/{brand.public_id}"),
    ):
        assert change().status_code == 200
        versions.append(etag_of(api, link))
    assert len(set(versions)) == 5


def test_clicks_keep_the_version_and_change_the_tag(
    api: APIClient, make_link: MakeLink, visitor: Any
) -> None:
    link = make_link()
    before = etag_of(api, link)
    assert visitor.get(f"/{link['shortCode']}").status_code == 302
    drain()
    response = api.get(address(link), headers={"if-none-match": before})
    assert (response.status_code, response.json()["data"]["url"]["clickCount"]) == (200, 1)
    assert (response["ETag"] != before, response["ETag"].partition("-")[0]) == (
        True,
        before.partition("-")[0],
    )
    assert put(api, link, {"title": "new"}, before).status_code == 200


def test_a_read_of_the_known_state_is_304(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    etag = etag_of(api, link)
    for known in (etag, f"W/{etag}", f'"0", {etag}', "*"):
        response = api.get(address(link), headers={"if-none-match": known})
        assert (response.status_code, response.content, response["ETag"]) == (304, b"", etag), known
    for unknown in ('"0"', etag.partition("-")[0] + '"', ""):
        assert api.get(address(link), headers={"if-none-match": unknown}).status_code == 200, unknown
    assert api.put(address(link), {"isActive": False}).status_code == 200
    assert api.get(address(link), headers={"if-none-match": etag}).status_code == 200


def test_a_new_link_has_a_tag_and_an_address(api: APIClient, make_link: MakeLink) -> None:
    created = api.post("/api/urls", {"originalUrl": "https://example.com/"}, headers={"idempotency-key": "a"})
    link = created.json()["data"]["url"]
    assert (created["Location"], created["ETag"]) == (address(link), etag_of(api, link))
    again = api.post("/api/urls", {"originalUrl": "https://example.com/"}, headers={"idempotency-key": "a"})
    assert (again["Idempotent-Replayed"], again["Location"], again["ETag"]) == (
        "true",
        created["Location"],
        created["ETag"],
    )


def test_a_deletion_can_depend_on_the_version(
    api: APIClient, strange_api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    former = etag_of(api, link)
    assert api.put(address(link), {"title": "new"}).status_code == 200
    refused = api.delete(address(link), headers={"if-match": former})
    assert (refused.status_code, refused.json()["code"]) == (412, "changed_meanwhile")
    assert api.delete(address(link), headers={"if-match": "no tag"}).status_code == 400
    current = etag_of(api, link)
    assert strange_api.delete(address(link), headers={"if-match": current}).status_code == 404
    assert api.delete(address(link), headers={"if-match": current}).status_code == 200
    assert api.get(address(link)).status_code == 404


@pytest.mark.parametrize("unknown", ['"0"', '"ffffffffffffff"', '"another kind of tag"'])
def test_a_version_that_never_was_is_told_as_such(unknown: str, api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    for refused in (
        put(api, link, {"title": "new"}, unknown),
        put(api, link, {"customCode": "summer"}, unknown),
        api.delete(address(link), headers={"if-match": unknown}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (412, "changed_meanwhile")
        assert refused.json()["message"] == "This URL has another version than those in If-Match."


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("changes", CHANGES, ids=["statement", "lock"])
def test_one_of_many_concurrent_updates_of_a_version_succeeds(
    changes: dict[str, Any], api: APIClient, make_link: MakeLink
) -> None:
    link = make_link()
    etag = etag_of(api, link)
    responses = at_once([lambda: put(api, link, changes, etag).status_code] * 8)
    assert sorted(responses) == [200] + [412] * 7


def test_read_shows_the_version_of_the_time_of_the_last_change(api: APIClient, make_link: MakeLink) -> None:
    link = make_link()
    updated_at = Link.objects.get().updated_at
    assert iso_utc(updated_at) == api.get(address(link)).json()["data"]["url"]["updatedAt"]
    microseconds = int(updated_at.timestamp()) * 1_000_000 + updated_at.microsecond
    assert etag_of(api, link).partition("-")[0] == f'"{microseconds:x}'
