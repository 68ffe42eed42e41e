"""Front ends of other origins, the documentation and the admin, as Chromium sees them."""

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
from shortener_project import schema
from tests.browser import Visit, another_site
from tests.browser import address as address
from tests.browser import browse as browse
from tests.browser import chromium as chromium
from tests.conftest import PASSWORD, key_client

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


def test_a_front_end_of_an_allowed_origin_does_everything(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    """Each of these calls asks first: none of their headers is among those that any site may send."""
    headers = {"X-API-Key": alice.api_key, "Idempotency-Key": "once", "X-Request-ID": "0123456789abcdef"}
    body = '{"originalUrl":"https://example.com/"}'

    with browse() as visit:
        page = visit.page
        page.goto(origins[0])
        status, made, _ = call(page, f"{address}/api/urls", "POST", body, headers=headers)
        assert status == 201, made
        link = f"{address}/api/urls/{page.evaluate('text => JSON.parse(text).data.url._id', made)}"
        own = {"X-API-Key": alice.api_key}
        assert call(page, link, "PUT", '{"title":"New"}', headers=own)[0] == 200
        assert call(page, link, headers=own)[0] == 200
        assert call(page, link, "DELETE", headers=own)[0] == 200
        assert call(page, link, headers=own)[0] == 404

        status, _, seen = call(page, f"{address}/api/schema")
        assert (status, seen["ETag"][:1]) == (200, '"')
        again = call(page, f"{address}/api/schema", headers={"If-None-Match": seen["ETag"]})
        assert again[0] in (200, 304)

        login = '{"email":"nobody@example.com","password":"wrong"}'
        answers = [call(page, f"{address}/api/auth/login", "POST", login) for _ in range(11)]
        assert [answer[0] for answer in answers] == [401] * 10 + [429]
        seen = answers[-1][2]
        assert (seen["RateLimit-Limit"], seen["RateLimit-Remaining"]) == ("10", "0")
        assert int(seen["Retry-After"]) > 0
        assert visit.errors(401, 404, 429) == []

    assert Link.objects.count() == 0


def test_a_front_end_of_a_foreign_origin_does_nothing(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    body = '{"originalUrl":"https://example.com/"}'

    with browse() as visit:
        visit.page.goto(origins[1])
        for method, sent in (("POST", body), ("GET", None), ("DELETE", None)):
            answer = call(
                visit.page, f"{address}/api/urls", method, sent, headers={"X-API-Key": alice.api_key}
            )
            assert answer[:2] == [0, "TypeError: Failed to fetch"]
        assert call(visit.page, f"{address}/api/schema")[0] == 0
        assert any("blocked by CORS policy" in text for text in visit.complaints)

    assert Link.objects.count() == 0


def test_nobody_sends_cookies_along(
    browse: Callable[[], Any], address: str, origins: tuple[str, str]
) -> None:
    with browse() as visit:
        visit.page.goto(origins[0])
        assert call(visit.page, f"{address}/api/schema")[0] == 200
        assert call(visit.page, f"{address}/api/schema", credentials="include")[0] == 0


# The documentation


@pytest.fixture
def described(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The description names the address that the browser is at, as BASE_URL does outside of tests."""
    monkeypatch.setattr(spectacular_settings, "SERVERS", [{"url": address}])
    schema._schema.cache_clear()
    yield
    schema._schema.cache_clear()


def test_the_documentation_works_under_its_policy(
    browse: Callable[[], Any], address: str, described: None
) -> None:
    with browse() as visit:
        page = visit.page
        page.goto(address)
        page.get_by_role("link", name="API documentation").click()
        page.get_by_text("Log in with e-mail and password.").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        page.wait_for_selector(".live-responses-table .response-col_status")
        shown = page.locator(".live-responses-table").inner_text()
        assert "401" in shown
        assert "The e-mail or the password is wrong." in shown
        page.get_by_role("button", name="Authorize").first.click()
        page.wait_for_selector(".modal-ux input")
        assert visit.errors(401) == []


# The admin


def log_in(page: Page, address: str) -> None:
    page.goto(f"{address}/admin/")
    page.get_by_label("Email").fill("operator@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{address}/admin/")


@pytest.fixture
def operator(transactional_db: None) -> User:
    return create_account(email="operator@example.com", password=PASSWORD, superuser=True).user


def test_every_page_of_the_admin_works_under_its_policy(
    browse: Callable[[], Any], address: str, make_link: MakeLink, operator: User, alice: NewAccount
) -> None:
    Domain.objects.create(
        owner=alice.user, domain="example.net", host="example.net", status=DomainStatus.ACTIVE
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
                page.wait_for_selector("#content-main")
                assert visit.errors() == [], path
                page.go_back()
            adding = page.locator(".object-tools .addlink")
            if adding.count():
                adding.click()
                page.wait_for_selector("#content-main form")
                assert visit.errors() == [], path
        # What scripts of the admin do: a list is filtered, a theme chosen, a password looked for.
        page.goto(f"{address}/admin/accounts/user/?plan__exact=pro")
        page.locator(".theme-toggle").first.click()
        assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark", "auto")
        assert (
            page.evaluate("getComputedStyle(document.querySelector('#header')).backgroundColor")
            != "rgba(0, 0, 0, 0)"
        )
        assert visit.errors() == []


def test_who_has_logged_out_is_out_whoever_kept_the_cookie(
    browse: Callable[[], Any], address: str, operator: User
) -> None:
    """ASVS 7.4.1"""
    with browse() as visit:
        page = visit.page
        log_in(page, address)
        kept = page.context.cookies()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{address}/admin/logout/")
        page.context.add_cookies(kept)
        page.goto(f"{address}/admin/accounts/user/")
        assert page.url == f"{address}/admin/login/?next=/admin/accounts/user/"
        assert visit.errors() == []


def test_a_page_of_ours_is_shown_in_nobodys_frame(
    browse: Callable[[], Any], address: str, origins: tuple[str, str], make_link: MakeLink, operator: User
) -> None:
    link = make_link(password="secret")

    with browse() as visit:
        refused = []
        for path in ("/", f"/{link['shortCode']}", "/unknown1", "/api/docs", "/admin/login/"):
            visit.page.goto(origins[1])
            frame_with(visit, f"{address}{path}")
            refused.append(
                any("frame-ancestors" in text or "X-Frame-Options" in text for text in visit.complaints)
            )
            visit.complaints.clear()
    assert refused == [True] * 5


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
    visit.page.wait_for_timeout(100)
