"""Front ends of other origins, the documentation and the admin in Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from drf_spectacular.settings import spectacular_settings
from playwright.sync_api import Page

from accounts.services import NewAccount
from links.models import Link
from shortener_project.web import schema
from testing.pages.browser import address as address
from testing.pages.browser import browse as browse
from testing.pages.browser import chromium as chromium
from tests.security.front_ends import origins as origins

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


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
    browse: Callable[..., Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    """Each of these calls needs a preflight, because their headers are not CORS-safelisted."""
    headers = {"X-API-Key": alice.api_key, "Idempotency-Key": "once", "X-Request-ID": "0123456789abcdef"}
    body = '{"originalUrl":"https://example.com/"}'

    with browse(fresh=True) as visit:
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
    browse: Callable[..., Any], address: str, origins: tuple[str, str], alice: NewAccount
) -> None:
    body = '{"originalUrl":"https://example.com/"}'

    with browse(fresh=True) as visit:
        visit.page.goto(origins[1])
        for method, sent in (("POST", body), ("GET", None), ("DELETE", None)):
            response = call(
                visit.page, f"{address}/api/urls", method, sent, headers={"X-API-Key": alice.api_key}
            )
            assert response[:2] == [0, "TypeError: Failed to fetch"]
        assert call(visit.page, f"{address}/api/schema")[0] == 0
        visit.wait_for_complaint("blocked by CORS policy")

    assert Link.objects.count() == 0


def test_no_cookies_are_sent(browse: Callable[..., Any], address: str, origins: tuple[str, str]) -> None:
    with browse(fresh=True) as visit:
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
