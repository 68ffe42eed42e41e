"""The guide that the service itself shows, its search, and what leads there."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from django.test import Client
from rest_framework.test import APIClient

from shortener_project.web.documents import DOCUMENTS, PAGES
from shortener_project.web.guide import search
from shortener_project.web.markdown import Heading, render
from shortener_project.web.operations import operations
from testing.cases import for_each
from testing.visitors.browsers import FOREIGN_HOSTS
from testing.visitors.browsers import browser as browser

GUIDE = [path for _, path, _ in PAGES if path.startswith("/api/docs/guide")]


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids |= {value or "" for name, value in attrs if name == "id"}

    def handle_data(self, data: str) -> None:
        self.text += data


def opened(browser: Client, path: str) -> Page:
    response = browser.get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "text/html; charset=utf-8"), path
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("frame-ancestors 'none'; base-uri 'none'")
    assert (response["Cache-Control"], bool(response.cookies)) == ("no-cache", False)
    page = Page(response.content.decode())
    assert page.tags.isdisjoint({"script", "img", "link", "iframe"})
    return page


def test_every_link_of_the_guide_leads_to_a_page_and_to_its_place_there(browser: Client) -> None:
    pages = {path: opened(browser, path) for path in GUIDE}
    for path, page in list(pages.items()):
        for link in page.links:
            target = urlsplit(link)
            if target.netloc:
                assert target.scheme == "https"
            elif target.path == "/api/schema":
                continue
            else:
                found = pages.get(target.path or path) or (
                    Page("") if target.path == "/api/docs" else opened(browser, target.path)
                )
                pages.setdefault(target.path or path, found)
                assert not target.fragment or target.fragment in found.ids, link


def test_the_examples_have_the_address_of_the_installation(browser: Client) -> None:
    text = "".join(opened(browser, path).text for path in GUIDE)
    assert "127.0.0.1:8000" not in text
    assert "$ curl http://sho.rt/api/urls " in text
    assert "](" not in text


def test_what_the_guide_names_is_linked(browser: Client) -> None:
    links = opened(browser, "/api/docs/guide").links
    assert {
        "/api/docs/operations/duplicateUrl",
        "/api/docs/errors/unknown_field",
        "/api/docs/guide/routing#the-order-of-decisions",
        "#retries-and-limits",
    } <= set(links)
    # What visitors get is no error of the API.
    assert "/api/docs/errors/not_found" not in links
    assert not [link for link in links if ".md" in link]


def test_the_search_finds_sections_operations_and_errors_without_scripts(browser: Client) -> None:
    page = opened(browser, "/api/docs/guide?q=Idempotency-Key")
    assert {"/api/docs/guide#retries-and-limits", "/api/docs/errors/idempotency_in_progress"} <= set(
        page.links
    )
    assert "mark" in page.tags
    assert "Nothing found" in opened(browser, "/api/docs/guide?q=xyzzy").text
    assert "Using the API" in opened(browser, "/api/docs/guide?q=%20").text
    first, *_ = search("duplicate URL")
    assert (first.address, first.title) == (
        "/api/docs/operations/duplicateUrl",
        "POST /api/urls/{id}/duplicate",
    )
    # A hit is every second piece.
    (signed, *_) = search("STANDARD webhooks 1.0.0")
    assert signed.address == "/api/docs/guide/webhooks#messages"
    assert [piece.lower() for piece in signed.pieces[1::2]][:2] == ["standard", "webhooks"]


@for_each("query", ["<script>", "\x00", "(", "a" * 5000, "é" * 300])
def test_any_query_is_text(query: str, browser: Client) -> None:
    response = browser.get("/api/docs/guide", {"q": query})
    assert response.status_code == 200
    assert b"<script>" not in response.content


def test_every_operation_has_a_page_with_its_samples(browser: Client) -> None:
    index = opened(browser, "/api/docs/operations")
    assert {operation.address for operation in operations().values()} <= set(index.links)
    page = opened(browser, "/api/docs/operations/createQrCode")
    assert {"/api/docs/errors/quota_exceeded", "/api/docs#/QR%20codes/createQrCode"} <= set(page.links)
    for sample in operations()["createQrCode"].samples:
        assert sample.source in page.text
    assert "URL_ID" in page.text


def test_the_documentation_is_not_on_other_hosts(anonymous: APIClient, db: None) -> None:
    paths = [
        "/api/",
        *(path for _, path, _ in PAGES),
        *(f"{path}/nothing" for _, path, _ in PAGES),
        "/llms.txt",
    ]
    for host in FOREIGN_HOSTS:
        for path in paths:
            response = anonymous.get(path, headers={"host": host, "accept": "text/html"})
            assert response.status_code == 404, path
            assert b"Reference" not in response.content


@for_each(
    "path", ["guide/nothing", "guide/guide", "guide/../x", "operations/nothing", "errors/nothing", "nothing"]
)
def test_a_browser_gets_a_page_about_a_missing_one(path: str, browser: Client) -> None:
    page = browser.get(f"/api/docs/{path}", headers={"accept": "text/html,*/*;q=0.8"})
    assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert Page(page.content.decode()).links == [path for _, path, _ in PAGES]
    for accept in ("*/*", "application/json", "application/problem+json"):
        response = browser.get(f"/api/docs/{path}", headers={"accept": accept})
        assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_the_root_of_the_api_leads_to_the_documentation(browser: Client) -> None:
    response = browser.get("/api/")
    assert response.json() == {
        "success": True,
        "data": {
            "docs": "http://sho.rt/api/docs",
            "guide": "http://sho.rt/api/docs/guide",
            "operations": "http://sho.rt/api/docs/operations",
            "errors": "http://sho.rt/api/docs/errors",
            "schema": "http://sho.rt/api/schema",
        },
    }


def test_llms_txt_lists_every_page_in_a_line(browser: Client) -> None:
    response = browser.get("/llms.txt")
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    title, _, summary, *rest = response.content.decode().splitlines()
    assert (title, summary[:2]) == ("# URL shortener", "> ")
    assert [line for line in rest if line.startswith("- ")] == [
        *(f"- [{title}](http://sho.rt{path}): {summary}" for title, path, summary in PAGES),
        "- [OpenAPI description](http://sho.rt/api/schema): The same for programs, as OpenAPI 3.1.",
    ]
    assert browser.post("/llms.txt").status_code == 405


# Markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<b>&amp;</b> & `<i>`", "<p>&lt;b&gt;&amp;&lt;/b&gt; &amp; <code>&lt;i&gt;</code></p>\n"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>\n"),
        ('[x](https://a/"b)', '<p><a href="https://a/%22b">x</a></p>\n'),
        ("```html\n<p>\n```", '<pre tabindex="0"><code>&lt;p&gt;\n</code></pre>\n'),
        ("## A `b` & c", '<h2 id="a-b--c">A <code>b</code> &amp; c</h2>\n'),
    ],
)
def test_html_in_a_document_is_text(text: str, html: str) -> None:
    assert render(text).html == html


def test_headings_with_the_same_text_have_anchors_of_their_own() -> None:
    assert render("# A\n\n## B\n\n## B").headings == [
        Heading(1, "a", "A"),
        Heading(2, "b", "B"),
        Heading(2, "b-1", "B"),
    ]


def test_a_link_without_an_address_here_is_its_text() -> None:
    html = render("[one `x`](other.md), [two](y)", {"y": "/y"}.get, {"x": "/x"}.get).html
    assert html == '<p>one <a href="/x"><code>x</code></a>, <a href="/y">two</a></p>\n'


def test_the_documents_are_those_for_users_of_the_api() -> None:
    assert list(DOCUMENTS) == ["guide", "tasks", "routing", "webhooks", "many-links"]
