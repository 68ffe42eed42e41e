"""Keys that are limited to a domain: where their links are."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from accounts.models import ScopedKey
from accounts.rights import Scope
from accounts.services import NewAccount
from links.models import Link
from testing.accounts.keys import scoped_client
from tests.links.key_limits.limited_keys import OUTSIDE, URL, Site, create, listed
from tests.links.key_limits.limited_keys import site as site


def by_domain(site: Site) -> bool:
    return ScopedKey.objects.filter(domain_id__isnull=False).exists()


def test_new_links_are_on_the_domain_of_the_key(site: Site) -> None:
    titles = {"single": {}, "named": {"domainId": str(site.domain.public_id)}}
    for title, fields in titles.items():
        create(site.client, title, **fields)
    bulk = [{"originalUrl": URL, "title": "many"}, {"originalUrl": URL, "title": "many"}]
    assert site.client.post("/api/urls/bulk", {"urls": bulk}).json()["data"]["succeeded"] == 2
    expected = site.domain.pk if by_domain(site) else None
    assert Link.objects.get(title="named").domain_id == site.domain.pk
    created = Link.objects.filter(title__in=["single", "many"])
    assert list(created.values_list("domain_id", flat=True)) == [expected] * 3
    assert len(listed(site.client, search="many")) == 2


@pytest.mark.parametrize("named", ["base", "other"])
def test_a_key_of_a_domain_creates_no_links_elsewhere(named: str, site: Site) -> None:
    fields = {"originalUrl": URL, "domainId": "base" if named == "base" else str(site.other.public_id)}
    before = Link.objects.count()
    statuses = [
        site.client.post("/api/urls", fields).status_code,
        site.client.post("/api/urls/bulk", {"urls": [fields]}).json()["data"]["succeeded"],
    ]
    assert statuses == ([404, 0] if by_domain(site) else [201, 1])
    assert Link.objects.count() - before == (0 if by_domain(site) else 2)


def test_imports_go_to_the_domain_of_the_key(site: Site) -> None:
    content = f"originalUrl,title\n{URL},imported\n"
    sent = {"content": content, "dryRun": False}
    site.client.post("/api/urls/import", sent | {"domainId": str(site.domain.public_id)})
    assert len(listed(site.client, search="imported")) == 1
    response = site.client.post("/api/urls/import", sent | {"domainId": str(site.other.public_id)})
    assert response.status_code == (404 if by_domain(site) else 200)
    on_default = site.client.post("/api/urls/import", sent | {"domainId": "base"})
    assert on_default.json()["data"]["succeeded"] == (0 if by_domain(site) else 1)


def test_a_key_of_a_domain_sees_no_other_domain(site: Site) -> None:
    domains = [domain["_id"] for domain in site.client.get("/api/domains").json()["data"]["domains"]]
    available = [
        domain["id"] for domain in site.client.get("/api/urls/domains/available").json()["data"]["domains"]
    ]
    own, other = str(site.domain.public_id), str(site.other.public_id)
    if by_domain(site):
        assert (domains, available) == ([own], [own])
        assert site.client.get(f"/api/domains/{other}").status_code == 404
        assert site.client.get("/api/urls/stats").json()["customDomains"] == 1
    else:
        assert (domains, available) == ([own, other], ["base", own, other])


def test_links_know_the_key_that_created_them(alice: NewAccount, api: APIClient) -> None:
    client = scoped_client(alice.workspace, alice.user, Scope.URLS_WRITE)
    key = ScopedKey.objects.get()
    create(client, "single")
    client.post("/api/urls/bulk", {"urls": [{"originalUrl": URL, "title": "many"}]})
    content = f"originalUrl,title\n{URL},imported\n"
    client.post("/api/urls/import", {"content": content, "dryRun": False})
    create(api, "main")
    routed = {
        "rules": [{"url": "https://example.org/", "conditions": [{"type": "device", "values": ["mobile"]}]}]
    }
    create(client, "routed", **routed)
    assert dict(Link.objects.values_list("title", "key_id")) == {
        **dict.fromkeys(("single", "many", "imported", "routed"), key.pk),
        "main": None,
    }


def test_a_limit_can_be_set_after_the_links_were_created(
    alice: NewAccount, bearer: APIClient, api: APIClient
) -> None:
    client = scoped_client(alice.workspace, alice.user, Scope.URLS_READ, Scope.URLS_WRITE)
    own = create(client, "own")
    create(api, OUTSIDE)
    assert len(listed(client)) == 2
    path = f"/api/keys/{ScopedKey.objects.get().public_id}"
    assert bearer.patch(path, {"onlyOwn": True}).status_code == 200
    assert listed(client) == [own]
    assert bearer.post(f"{path}/rotate", {"graceSeconds": 60}).status_code == 200
    assert listed(client) == [own]
