"""The guide on this installation: the documents for users of the API, with its own addresses, and a search.

The search also finds operations and codes of errors. Each worker reads the documents once.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from common.error_catalogue import CATALOGUE
from common.error_catalogue import DOCS_PATH as ERRORS_PATH
from common.errors import NotFound
from shortener_project.web.documents import DOCS_PATH, DOCUMENTS, MAIN, PAGES, document
from shortener_project.web.markdown import Rendered, render
from shortener_project.web.operations import operations
from shortener_project.web.schema import PublicDocument

# The address in the documents that stands for that of the installation.
_EXAMPLE_URL = "http://127.0.0.1:8000"
# Visitors who are refused get these, too: the text says what they mean.
_OF_VISITS = {"bad_request", "internal_error", "not_found", "rate_limited"}
_SHOWN_RESULTS = 50
_LONGEST_QUERY = 200
# Characters around the first hit in a result.
_BEFORE, _AFTER = 60, 200


class Result(NamedTuple):
    """``pieces`` are an excerpt, in which every second one is a hit."""

    address: str
    title: str
    pieces: list[str]


class _Entry(NamedTuple):
    address: str
    title: str
    text: str


class GuideView(PublicDocument):
    def get(self, request: Request, name: str = "") -> HttpResponse:
        found = DOCUMENTS.get(name or MAIN)
        if found is None or name == MAIN:
            raise NotFound("The guide has no such page.")
        query = request.query_params.get("q", "")[:_LONGEST_QUERY] if found.file == MAIN else ""
        if query.strip():
            results = {"query": query, "results": search(query), "most": _SHOWN_RESULTS}
            return document(request._request, "documents/results.html", results, forms="'self'")
        page = _rendered(found.file)
        contents = [heading for heading in page.headings if heading.level == 2]
        return document(
            request._request,
            "documents/guide.html",
            {"title": found.title, "page": page, "contents": contents},
            forms="'self'",
        )


def search(query: str) -> list[Result]:
    """Sections, operations and errors with all words of ``query``, in any case: first those with all in the title."""
    words = query.lower().split()
    found = [
        entry
        for entry in _index()
        if all(word in entry.text.lower() or word in entry.title.lower() for word in words)
    ]
    found.sort(key=lambda entry: not all(word in entry.title.lower() for word in words))
    return [
        Result(entry.address, entry.title, _pieces(entry.text, words)) for entry in found[:_SHOWN_RESULTS]
    ]


def _pieces(text: str, words: list[str]) -> list[str]:
    hits = re.compile(f"({'|'.join(map(re.escape, words))})", re.IGNORECASE)
    hit = hits.search(text)
    start = max(0, hit.start() - _BEFORE) if hit else 0
    end = start + _BEFORE + _AFTER
    excerpt = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
    return hits.split(excerpt)


@cache
def _index() -> list[_Entry]:
    entries = []
    for each in DOCUMENTS.values():
        for heading, passages in groupby(_rendered(each.file).passages, key=lambda passage: passage.heading):
            title = each.title if heading.level == 1 else f"{each.title}: {heading.text}"
            text = " ".join(passage.text for passage in passages)
            entries.append(_Entry(f"{each.path}#{heading.anchor}", title, text))
    for operation in operations().values():
        title = f"{operation.method} {operation.path}"
        entries.append(_Entry(operation.address, title, f"{operation.summary} {operation.description}"))
    for code, error in CATALOGUE.items():
        title = f"Error {code}: {error.title}"
        entries.append(_Entry(f"{ERRORS_PATH}/{code}", title, f"{error.cause} {error.remedy}"))
    return entries


@cache
def _rendered(file: str) -> Rendered:
    text = (settings.PROJECT_DIR / "docs" / f"{file}.md").read_text()
    return render(text.replace(_EXAMPLE_URL, settings.BASE_URL), _link, _link_code)


def _link(address: str) -> str | None:
    """Other documents than those of the guide are for developers and operators."""
    if address.startswith(("#", DOCS_PATH, "https://")):
        return address
    file, _, anchor = address.partition("#")
    found = DOCUMENTS.get(file.removesuffix(".md"))
    return None if found is None else found.path + (f"#{anchor}" if anchor else "")


def _link_code(code: str) -> str | None:
    if code == "/api/schema" or code in (path for _, path, _ in PAGES):
        return code
    if "_" in code and code in CATALOGUE.keys() - _OF_VISITS:
        return f"{ERRORS_PATH}/{code}"
    return _addresses().get(re.sub(r"\{\w+\}", "{}", code.partition("?")[0]))


@cache
def _addresses() -> dict[str, str]:
    """The page of each operation, by method and path without the names of parameters."""
    return {
        re.sub(r"\{\w+\}", "{}", f"{operation.method} {operation.path}"): operation.address
        for operation in operations().values()
    }
