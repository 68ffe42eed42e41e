"""The pages with the description of the API."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from threading import Barrier
from urllib.parse import urljoin, urlsplit

import pytest
from rest_framework.test import APIClient

from shortener_project.web.schema import render_schema
from testing.contract.description import DOCUMENTS
from testing.polling import DEADLINE


@pytest.mark.parametrize("path", sorted(DOCUMENTS))
def test_the_documents_need_no_credentials_and_no_database(anonymous: APIClient, path: str) -> None:
    response = anonymous.get(path)
    assert response.status_code == 200
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")
    anonymous.credentials(HTTP_X_API_KEY="not a key")
    assert anonymous.get(path).content == response.content
    assert anonymous.get(path, headers={"if-none-match": response["ETag"]}).status_code == 304
    refused = anonymous.post(path)
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", sorted(DOCUMENTS))
def test_the_documents_are_not_on_other_hosts(anonymous: APIClient, path: str, db: None) -> None:
    assert anonymous.get(path, headers={"host": "links.example.com"}).status_code == 404


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "application/yaml"])
def test_the_description_is_json_for_any_accept_header(anonymous: APIClient, accept: str) -> None:
    response = anonymous.get("/api/schema", headers={"accept": accept})
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json()["openapi"] == "3.1.0"


class Page(HTMLParser):
    """What a page loads and links to, and the content of its scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[tuple[str, str]] = []
        self.tag = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        if self.tag in ("script", "style") and data.strip():
            self.inline.append((self.tag, data))

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""


def test_the_page_loads_only_files_of_this_service(anonymous: APIClient) -> None:
    response = anonymous.get("/api/docs")
    assert response["Content-Type"] == "text/html; charset=utf-8"
    page = Page(response.content.decode())
    assert len(page.addresses) == 4
    for address in page.addresses:
        target = urlsplit(urljoin("http://sho.rt/api/docs", address))
        assert target.netloc == "sho.rt"
        loaded = anonymous.get(target.path)
        assert loaded.status_code == 200, address
        body = b"".join(loaded) if loaded.streaming else loaded.content
        assert len(body) == int(loaded["Content-Length"]) > 500


def test_the_policy_of_the_page_allows_only_what_it_needs(anonymous: APIClient) -> None:
    response = anonymous.get("/api/docs")
    policy = dict(
        directive.strip().split(" ", 1) for directive in response["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in str(policy)
    assert "http" not in str(policy)
    page = Page(response.content.decode())
    assert [tag for tag, _ in page.inline] == ["style", "script"]
    for tag, text in page.inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[f"{tag}-src"].split()


def test_concurrent_first_requests_all_succeed(anonymous: APIClient) -> None:
    render_schema.cache_clear()
    together = Barrier(8)

    def fetch_description(_: int) -> int:
        together.wait(DEADLINE)
        return anonymous.get("/api/schema").status_code

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(fetch_description, range(8))) == [200] * 8
