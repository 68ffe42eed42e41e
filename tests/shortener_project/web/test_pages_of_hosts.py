"""Which pages a host has."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from accounts.services import NewAccount
from domains.models import Domain
from testing.cases import for_each
from testing.visitors.browsers import FOREIGN_HOSTS
from testing.visitors.browsers import browser as browser


@pytest.fixture
def customers_domain(alice: NewAccount) -> Domain:
    return Domain.objects.create(
        owner=alice.workspace, domain="customer.example", subdomain="go", host="go.customer.example", status="active"
    )  # fmt: skip


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/robots.txt"])
@pytest.mark.parametrize("host", ["go.customer.example", "10.0.0.7:8000", ""])
def test_health_pages_work_on_any_host(host: str, path: str, browser: Client, db: None) -> None:
    assert browser.get(path, headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_the_root_of_a_foreign_host_leads_nowhere(host: str, browser: Client, db: None) -> None:
    response = browser.get("/", headers={"host": host})
    assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    json_response = browser.get("/", headers={"host": host, "accept": "application/json"})
    assert (json_response.status_code, json_response.json()["success"], json_response.json()["reason"]) == (
        404,
        False,
        "not_found",
    )


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_api_returns_404_on_a_foreign_host(host: str, bearer: APIClient) -> None:
    for path in ("/api", "/api/urls", "/api/auth/api-key", "/api/docs", "/api/nothing"):
        response = bearer.get(path, headers={"host": host})
        assert (response.status_code, response.headers["Content-Type"], response.json()) == (
            404,
            "application/json",
            # Not the page of the code, which would name the service's own host.
            {
                "success": False,
                "message": "Not found.",
                "code": "not_found",
                "requestId": response["X-Request-ID"],
            },
        )


def test_api_returns_404_on_a_custom_domain(customers_domain: Domain, api: APIClient) -> None:
    host = {"host": customers_domain.host}
    responses = [
        api.get("/api/urls", headers=host),
        api.post("/api/urls", {"originalUrl": "https://example.com/"}, headers=host),
        api.delete("/api/urls/01890000-0000-7000-8000-000000000000", headers=host),
    ]
    assert [response.status_code for response in responses] == [404, 404, 404]
    assert api.get("/api/urls").json()["data"]["urls"] == []


@for_each("host", FOREIGN_HOSTS)
@for_each(
    "path",
    [
        *(
            "/accounts",
            "/accounts/login/",
            "/admin",
            "/admin/",
            "/admin/login/",
            "/static/admin/css/base.css",
        ),
        *("/dashboard", "/dashboard/"),
    ],
)
def test_pages_return_404_on_a_foreign_host(host: str, path: str, browser: Client, db: None) -> None:
    assert browser.get(path, headers={"host": host}).status_code == 404


@pytest.mark.parametrize(
    "host",
    ["sho.rt", "SHO.RT", "sho.rt.", "sho.rt:80", "sho.rt:8000",
     "127.0.0.1:8000", "10.1.2.3", "localhost:8000", "[::1]:8000"],
)  # fmt: skip
def test_all_spellings_of_the_system_host_and_ip_addresses_serve_everything(
    host: str, browser: Client, api: APIClient
) -> None:
    assert browser.get("/", headers={"host": host}).headers["Location"] == "/dashboard/overview"
    assert browser.get("/dashboard/", headers={"host": host}).status_code == 200
    assert api.get("/api/urls", headers={"host": host}).status_code == 200
    admin = browser.get("/admin/", headers={"host": host})
    assert (admin.status_code, admin.headers["Location"]) == (302, "/admin/login/?next=/admin/")


def test_short_urls_do_not_depend_on_the_host_header(api: APIClient) -> None:
    created = api.post(
        "/api/urls", {"originalUrl": "https://example.com/"}, headers={"host": "127.0.0.1:8000"}
    ).json()["data"]
    assert created["url"]["shortUrl"] == f"http://sho.rt/{created['url']['shortCode']}"
    assert created["domain"]["shortUrl"] == "http://sho.rt"


@pytest.mark.parametrize(
    "code", ["apiary", "api2031", "apis", "administrative", "admin1", "statics", "static1"]
)
def test_code_with_the_prefix_of_a_system_path_works_on_every_host(
    code: str, customers_domain: Domain, api: APIClient, visitor: Client
) -> None:
    for domain, host in ((None, "sho.rt"), (str(customers_domain.public_id), customers_domain.host)):
        created = api.post(
            "/api/urls", {"originalUrl": "https://example.com/", "customCode": code, "domainId": domain}
        )
        assert created.status_code == 201
        response = visitor.get(f"/{code}", headers={"host": host})
        assert (response.status_code, response.headers.get("Location")) == (302, "https://example.com/")
