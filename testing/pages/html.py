"""Parses the service's pages, and checks the properties that all of them share."""

import base64
import hashlib
from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.http import HttpResponse

_VOID = {"input", "meta", "br"}
# Elements that load, run or embed something, or link elsewhere. Pages that explain a refusal need none of them.
_FOREIGN_TAGS = {"script", "link", "img", "iframe", "object", "embed", "base", "video", "audio", "svg", "a"}
_FOREIGN_ATTRIBUTES = {"src", "href", "srcset", "action", "formaction", "style", "background", "http-equiv"}

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'sha256-{}'; form-action *; frame-ancestors 'none'; base-uri 'none'"
)


@dataclass
class Page(HTMLParser):
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]] = self.texts.get(self._open[-1], "") + data

    def close(self) -> None:
        super().close()
        assert self._open == [], "elements are left open"

    @property
    def structure(self) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in self.elements]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def value_of(self, name: str) -> str:
        return next(field["value"] or "" for field in self.all("input") if field.get("name") == name)


def parse(response: HttpResponse) -> Page:
    page = Page()
    page.feed(response.content.decode())
    page.close()
    return page


def assert_page(response: HttpResponse, *, title: str, message: str) -> Page:
    """Check a small page: complete, accessible, not cached, and free of input from the request."""
    page = parse(response)
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Robots-Tag"] == "noindex"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Referrer-Policy"] == "strict-origin-when-cross-origin"
    style = base64.b64encode(hashlib.sha256(page.texts["style"].encode()).digest()).decode()
    assert response["Content-Security-Policy"] == CONTENT_SECURITY_POLICY.format(style)
    assert response.content.startswith(b'<!doctype html>\n<html lang="en">')
    assert page.all("meta") == [
        {"charset": "utf-8"},
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
    ]
    assert page.texts["title"] == title
    assert [page.texts["h1"], len(page.all("h1")), len(page.all("main"))] == [title, 1, 1]
    assert page.texts["p"] == message
    assert {tag for tag, _ in page.elements} & _FOREIGN_TAGS == set()
    names = {name for _, attributes in page.elements for name in attributes}
    assert names & _FOREIGN_ATTRIBUTES == set()
    assert [name for name in names if name.startswith("on")] == []
    assert len(response.content) < 4096
    return page


def assert_json_refusal(response: HttpResponse, *, reason: str, message: str) -> None:
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert response.cookies == {}
    assert response.json() == {"success": False, "message": message, "reason": reason}
