"""The apps that may open the links of a domain, and the documents that tell the visitors' systems."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain, DomainStatus
from testing.cases import for_each
from testing.redirects.visits import request, visit

HOST = "go.brand.example"
APPLE, ANDROID = "/.well-known/apple-app-site-association", "/.well-known/assetlinks.json"
PRINT = ":".join(["0F", "a1"] * 16)
APP_ID = "ABCDE12345.com.example.app"
APPS = {
    "apple": {"appIds": [APP_ID], "paths": ["/a*"], "excludedPaths": ["/ab*"]},
    "android": [{"packageName": "com.example.app", "fingerprints": [PRINT]}],
}
NONE = {"apple": None, "android": []}


@pytest.fixture
def domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="brand.example", subdomain="go", host=HOST, status=DomainStatus.ACTIVE
    )


@pytest.fixture
def path(domain: Domain) -> str:
    return f"/api/domains/{domain.public_id}"


def set_apps(api: APIClient, path: str, apps: Any) -> Any:
    response = api.patch(path, {"appLinks": apps})
    assert response.status_code == 200, response.content
    return response.json()["data"]["domain"]["appLinks"]


def served(visitor: Client, path: str, host: str = HOST) -> Any:
    response = visitor.get(path, headers={"host": host})
    if response.status_code != 200:
        return response.status_code
    assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("application/json", "nosniff")
    return response.json()


def test_a_domain_names_its_apps_to_both_systems(api: APIClient, visitor: Client, path: str) -> None:
    assert set_apps(api, path, APPS) == APPS
    assert served(visitor, APPLE) == {
        "applinks": {
            "details": [{"appIDs": [APP_ID], "components": [{"/": "/ab*", "exclude": True}, {"/": "/a*"}]}]
        }
    }
    assert served(visitor, ANDROID) == [
        {
            "relation": ["delegate_permission/common.handle_all_urls"],
            "target": {
                "namespace": "android_app",
                "package_name": "com.example.app",
                "sha256_cert_fingerprints": [PRINT.upper()],
            },
        }
    ]
    assert api.patch(path, api.get(path).json()["data"]["domain"]).status_code == 200
    assert api.get(path).json()["data"]["domain"]["appLinks"] == APPS


def test_platforms_change_individually_and_null_removes_one(
    api: APIClient, visitor: Client, path: str
) -> None:
    assert api.get(path).json()["data"]["domain"]["appLinks"] == NONE
    assert (served(visitor, APPLE), served(visitor, ANDROID)) == (404, 404)
    set_apps(api, path, {"android": APPS["android"]})
    all_paths = {"appIds": [APP_ID], "paths": ["/*"], "excludedPaths": []}
    assert set_apps(api, path, {"apple": {"appIds": [APP_ID]}}) == APPS | {"apple": all_paths}
    assert set_apps(api, path, {"android": None}) == {"apple": all_paths, "android": []}
    assert (served(visitor, APPLE)["applinks"]["details"][0]["components"], served(visitor, ANDROID)) == (
        [{"/": "/*"}],
        404,
    )
    assert set_apps(api, path, {"apple": None}) == NONE
    assert served(visitor, APPLE) == 404


def test_the_documents_come_from_memory_until_the_domain_changes(
    api: APIClient,
    visitor: Client,
    path: str,
    domain: Domain,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    set_apps(api, path, APPS)
    first = served(visitor, APPLE)
    with django_assert_num_queries(0):
        assert served(visitor, APPLE) == first
    set_apps(api, path, {"apple": {"appIds": [APP_ID, "AAAAAAAAAA.b"]}})
    assert served(visitor, APPLE)["applinks"]["details"][0]["appIDs"] == [APP_ID, "AAAAAAAAAA.b"]
    assert api.delete(path).status_code == 200
    assert served(visitor, APPLE) == 404


@for_each("host", ["sho.rt", "unknown.example", ""])
def test_other_hosts_have_none(host: str, visitor: Client, path: str, api: APIClient) -> None:
    set_apps(api, path, APPS)
    assert served(visitor, APPLE, host) in (400, 404)
    assert served(visitor, ANDROID, host) in (400, 404)


def test_a_domain_without_proof_serves_nothing(
    api: APIClient, visitor: Client, path: str, domain: Domain
) -> None:
    Domain.objects.filter(pk=domain.pk).update(status=DomainStatus.PENDING)
    set_apps(api, path, APPS)
    assert served(visitor, APPLE) == 404


def test_a_stranger_changes_no_apps(strange_api: APIClient, path: str) -> None:
    assert strange_api.patch(path, {"appLinks": APPS}).status_code == 404


def test_the_documents_are_only_read(visitor: Client, api: APIClient, path: str) -> None:
    set_apps(api, path, APPS)
    response = visitor.post(APPLE, headers={"host": HOST})
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert visitor.head(APPLE, headers={"host": HOST}).status_code == 200


def apple(**fields: Any) -> dict[str, Any]:
    return {"apple": {"appIds": [APP_ID], **fields}}


def android(**fields: Any) -> dict[str, Any]:
    return {"android": [{"packageName": "com.example.app", "fingerprints": [PRINT], **fields}]}


INVALID = [
    (None, "appLinks", "null"),
    ({"apple": {}}, "appLinks.apple.appIds", "required"),
    (apple(appIds=[]), "appLinks.apple.appIds", "min_length"),
    (apple(appIds=[APP_ID] * 11), "appLinks.apple.appIds", "max_length"),
    (apple(appIds=["com.example.app"]), "appLinks.apple.appIds.0", "app_id"),
    (apple(appIds=[f"{APP_ID}\n"]), "appLinks.apple.appIds.0", "app_id"),
    (apple(paths=["a"]), "appLinks.apple.paths.0", "app_path"),
    (apple(paths=["/" + "a" * 200]), "appLinks.apple.paths.0", "app_path"),
    (apple(excludedPaths=["/ü"]), "appLinks.apple.excludedPaths.0", "app_path"),
    (apple(paths=["/"] * 51), "appLinks.apple.paths", "max_length"),
    (android(packageName="app"), "appLinks.android.0.packageName", "package_name"),
    (android(fingerprints=[]), "appLinks.android.0.fingerprints", "min_length"),
    (android(fingerprints=[PRINT[3:]]), "appLinks.android.0.fingerprints.0", "fingerprint"),
    (android(sha1="x"), "appLinks.android.0.sha1", "unknown_field"),
    ({"windows": []}, "appLinks.windows", "unknown_field"),
]


@for_each(("apps", "field", "code"), INVALID)
def test_invalid_apps_are_refused_and_change_nothing(
    apps: Any, field: str, code: str, api: APIClient, path: str
) -> None:
    response = api.patch(path, {"appLinks": apps})
    errors = response.json()["errors"]
    assert (response.status_code, errors[0]["field"], errors[0]["code"]) == (400, field, code)
    assert api.get(path).json()["data"]["domain"]["appLinks"] == NONE


@for_each("path", [APPLE, ANDROID])
def test_the_fast_lane_leaves_the_documents_to_django(path: str, domain: Domain) -> None:
    Domain.objects.filter(pk=domain.pk).update(app_links=APPS)
    outcome = visit(request(path, {"Host": HOST}), in_lane=False)
    assert (outcome.response.split(b"\r\n")[0], outcome.records) == (b"HTTP/1.1 200 OK", [])


def test_the_largest_value_fits_the_limit_of_the_systems(api: APIClient, visitor: Client, path: str) -> None:
    ids = ["ABCDE12345" + f".{'a' * 50}" * 10] * 10
    longest = ["/" + "a" * 199] * 50
    set_apps(api, path, {"apple": {"appIds": ids, "paths": longest, "excludedPaths": longest}})
    response = visitor.get(APPLE, headers={"host": HOST})
    # Apple's is 128 KB.
    assert response.status_code == 200
    assert len(response.content) < 128 * 1024
