"""Front ends of other origins, the documentation and the admin in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from drf_spectacular.settings import spectacular_settings
from playwright.sync_api import Page
from pytest_django import Settings

from accounts.models import User
from accounts.services import NewAccount, create_account
from domains.models import Domain, DomainStatus
from links.models import Link
from shortener_project.web import schema
from testing.accounts.accounts import PASSWORD, key_client
from testing.pages.browser import Visit, another_site
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium

MakeLink = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def origins(settings: Settings) -> Iterator[tuple[str, str]]:
    """Two front ends; the first is allowed."""
    with another_site("Front end") as allowed, another_site("Front end") as foreign:
        settings.CORS_ALLOWED_ORIGINS = [allowed]
        yield allowed, foreign


CALL = """async ([url, method, headers, body, credentials]) => {
    try {
        const answer = await fetch(url, {method, headers, body, credentials});
        const names = ["ETag", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Policy"];
        const seen = Object.fromEntries(names.map(name => [name, answer.headers.get(name)]));
        return [answer.status, await answer.text(), seen];
    } catch (error) { return [0, String(error), {}]; }
}"""


def call(page: Page, url: str, method: str = "GET", body: str | None = None, **more: Any) -> list[Any]:
    headers = {"Content-Type": "application/json", **more.get("headers", {})}
    return page.evaluate(CALL, [url, method, headers, body, more.get("credentials", "omit")])


def test_a_front_end_of_an_allowed_origin_can_use_the_api(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    """Each of these calls needs a preflight, because their headers are not CORS-safelisted."""
    headers = {"X-API-Key": alice.api_key, "Idempotency-Key": "once", "X-Request-ID": "0123456789abcdef"}
    body = '{"originalUrl":"https://example.com/"}'

    with browse() as visit:
        page = visit.page
        page.goto(origins[0])
        status, created, _ = call(page, f"{address}/api/urls", "POST", body, headers=headers)
        assert status == 201, created
        link = f"{address}/api/urls/{page.evaluate('text => JSON.parse(text).data.url._id', created)}"
        own = {"X-API-Key": alice.api_key}
        assert call(page, link, "PUT", '{"title":"New"}', headers=own)[0] == 200
        assert call(page, link, headers=own)[0] == 200
        assert call(page, link, "DELETE", headers=own)[0] == 200
        assert call(page, link, headers=own)[0] == 404

        status, _, received = call(page, f"{address}/api/schema")
        assert (status, received["ETag"][:1]) == (200, '"')
        again = call(page, f"{address}/api/schema", headers={"If-None-Match": received["ETag"]})
        assert again[0] in (200, 304)

        login = '{"email":"nobody@example.com","password":"wrong"}'
        responses = [call(page, f"{address}/api/auth/login", "POST", login) for _ in range(11)]
        assert [response[0] for response in responses] == [401] * 10 + [429]
        received = responses[-1][2]
        assert (received["RateLimit-Limit"], received["RateLimit-Remaining"]) == ("10", "0")
        assert int(received["Retry-After"]) > 0
        assert visit.errors(401, 404, 429) == []

    assert Link.objects.count() == 0


def test_a_front_end_of_another_origin_cannot_use_the_api(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    body = '{"originalUrl":"https://example.com/"}'

    with browse() as visit:
        visit.page.goto(origins[1])
        for method, sent in (("POST", body), ("GET", None), ("DELETE", None)):
            response = call(
                visit.page, f"{address}/api/urls", method, sent, headers={"X-API-Key": alice.api_key}
            )
            assert response[:2] == [0, "TypeError: Failed to fetch"]
        assert call(visit.page, f"{address}/api/schema")[0] == 0
        visit.wait_for_complaint("blocked by CORS policy")

    assert Link.objects.count() == 0


def test_no_cookies_are_sent(browse: Callable[[], Any], address: str, origins: tuple[str, str]) -> None:
    with browse() as visit:
        visit.page.goto(origins[0])
        assert call(visit.page, f"{address}/api/schema")[0] == 200
        assert call(visit.page, f"{address}/api/schema", credentials="include")[0] == 0


# The documentation


@pytest.fixture
def described(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The description contains the address that the browser uses, like BASE_URL outside of tests."""
    monkeypatch.setattr(spectacular_settings, "SERVERS", [{"url": address}])
    schema.render_schema.cache_clear()
    yield
    schema.render_schema.cache_clear()


def test_the_documentation_works_under_its_policy(
    browse: Callable[[], Any], address: str, described: None
) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(address)
        page.get_by_role("link", name="API documentation").first.click()
        page.get_by_text("Log in with e-mail and password.").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        page.wait_for_selector(".live-responses-table .response-col_status")
        shown = page.locator(".live-responses-table").inner_text()
        assert "401" in shown
        assert "The e-mail or the password is wrong." in shown
        page.get_by_role("button", name="Authorize").first.click()
        page.wait_for_selector(".modal-ux input")
        # One 401 is that of the dashboard, where nobody has signed in.
        assert visit.errors(401) == []


def test_try_it_out_creates_a_link_with_the_key_of_the_reader(
    browse: Callable[[], Any], address: str, described: None, alice: NewAccount
) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(f"{address}/api/docs")
        page.get_by_role("button", name="Authorize").first.click()
        page.locator("#api_key_value").fill(alice.api_key)
        page.get_by_role("button", name="Apply credentials").first.click()
        page.get_by_role("button", name="Close").first.click()
        page.get_by_text("Create a short link.", exact=True).click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        page.wait_for_selector(".live-responses-table .response-col_status")
        shown = page.locator(".live-responses-table").inner_text()
        assert "201" in shown
        assert "URL created successfully." in shown
        assert visit.errors() == []

    assert [link.original_url for link in Link.objects.all()] == ["https://example.com/"]


# The admin


def log_in(page: Page, address: str) -> None:
    page.goto(f"{address}/admin/")
    page.get_by_label("Email").fill("operator@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url(f"{address}/admin/")


@pytest.fixture
def operator(transactional_db: None) -> User:
    return create_account(email="operator@example.com", password=PASSWORD, superuser=True).user


def test_every_page_of_the_admin_works_under_its_policy(
    browse: Callable[[], Any], address: str, make_link: MakeLink, operator: User, alice: NewAccount
) -> None:
    Domain.objects.create(
        owner=alice.workspace, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
    )
    link = make_link(title="<img src=x onerror=alert(1)>")
    key_client(alice.api_key).post("/api/qr-codes", {"urlId": link["_id"]})
    lists = [f"{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry]

    with browse() as visit:
        page = visit.page
        log_in(page, address)
        for path in lists:
            page.goto(f"{address}/admin/{path}")
            assert visit.errors() == [], path
            rows = page.locator("#result_list tbody th a")
            if rows.count():
                rows.first.click()
                page.wait_for_url(f"{address}/admin/{path}*/change/**")
                page.wait_for_selector("#content-main")
                assert visit.errors() == [], path
                page.go_back()
            adding = page.locator(".object-tools .addlink")
            if adding.count():
                adding.click()
                page.wait_for_url(f"{address}/admin/{path}add/**")
                page.wait_for_selector("#content-main form")
                assert visit.errors() == [], path
        # What the scripts of the admin do: filter a list, choose a theme, look up a password.
        page.goto(f"{address}/admin/accounts/user/?plan__exact=pro")
        page.locator(".theme-toggle").first.click()
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark", "auto")
        assert (
            page.evaluate("getComputedStyle(document.querySelector('#header')).backgroundColor")
            != "rgba(0, 0, 0, 0)"
        )
        assert visit.errors() == []


def test_after_logout_a_kept_cookie_gives_no_access(
    browse: Callable[[], Any], address: str, operator: User
) -> None:
    """ASVS 7.4.1"""
    with browse() as visit:
        page = visit.page
        log_in(page, address)
        kept = page.context.cookies()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{address}/accounts/login/")
        page.context.add_cookies(kept)
        page.goto(f"{address}/admin/accounts/user/")
        assert page.url == f"{address}/accounts/login/?next=%2Fadmin%2Faccounts%2Fuser%2F"
        assert visit.errors() == []


def test_no_page_can_be_framed(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], make_link: MakeLink, operator: User
) -> None:
    link = make_link(password="secret")

    with browse() as visit:
        for path in ("/", f"/{link['shortCode']}", "/unknown1", "/api/docs", "/accounts/login/"):
            visit.page.goto(origins[1])
            frame_with(visit, f"{address}{path}")
            visit.wait_for_complaint("frame-ancestors", "X-Frame-Options")
            visit.complaints.clear()


def frame_with(visit: Visit, url: str) -> None:
    visit.page.evaluate(
        """url => new Promise(done => {
            const frame = document.createElement("iframe");
            frame.onload = frame.onerror = () => done();
            frame.src = url;
            document.body.append(frame);
        })""",
        url,
    )
