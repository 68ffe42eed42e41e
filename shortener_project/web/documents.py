"""The shell of the pages of the documentation, and the page for addresses below `DOCS_PATH` that have none.

All are in English, as the messages of errors, and the same for all clients until the next release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from common.error_catalogue import DOCS_PATH as ERRORS_PATH
from pages.responses import page, prefers_json
from shortener_project.web.middleware import is_on_system_host

DOCS_PATH = "/api/docs"
GUIDE_PATH = f"{DOCS_PATH}/guide"
OPERATIONS_PATH = f"{DOCS_PATH}/operations"
MAIN = "guide"

_STYLE = (
    "body{grid-template-columns:minmax(0,1fr)}main{width:min(48rem,100% - 2rem)}"
    "@media(max-width:40rem){main{padding:1rem;width:calc(100% - 1rem);margin:.5rem}}"
    "h2{font-size:1.25rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .5rem}"
    "p,li{overflow-wrap:anywhere}li p{margin:0}"
    "pre{overflow-x:auto;padding:.75rem;border:1px solid var(--line);border-radius:8px}pre code{white-space:pre}"
    "td a{text-underline-offset:6px}table{width:100%;border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.375rem .5rem;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}"
    "article td:first-child code{overflow-wrap:break-word}article{margin-top:1.5rem}"
    "nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0 0 1rem;padding:0;list-style:none}"
    "nav a{display:inline-block;padding:.25rem 0}"
    "form{display:flex;gap:.5rem;margin:0 0 1.5rem}form input{margin:0}form button{width:auto}"
    "mark{background:none;color:inherit;font-weight:650}"
)


class Document(NamedTuple):
    """``file`` is in the folder docs, and its name is that of the page; `MAIN` is the page at GUIDE_PATH itself."""

    file: str
    title: str
    summary: str

    @property
    def path(self) -> str:
        return GUIDE_PATH if self.file == MAIN else f"{GUIDE_PATH}/{self.file}"


DOCUMENTS = {
    each.file: each
    for each in (
        Document(MAIN, "Guide", "Keys, workspaces, lists, errors, retries, reports, events and QR codes."),
        Document(
            "tasks", "Five tasks", "The most common ones in curl, Python, TypeScript, a terminal and MCP."
        ),
        Document(
            "routing", "Where a link leads", "Targets, start and end, rules, splits and the simulation."
        ),
        Document(
            "webhooks", "Webhooks", "Events of a workspace, sent to other programs, chats and mailboxes."
        ),
        Document("many-links", "Many links", "Bulk calls, imports from other services, and exports."),
    )
}
# The title, path and summary of every page of the documentation.
PAGES = [
    *((each.title, each.path, each.summary) for each in DOCUMENTS.values()),
    ("Operations", OPERATIONS_PATH, "Each call of the API with samples in curl, Python and JavaScript."),
    ("Error codes", ERRORS_PATH, "Each code of an error with its cause and remedy."),
    ("Reference", DOCS_PATH, "All fields and responses, to try in a browser with JavaScript."),
]


def document(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    forms: str = "'none'",
) -> HttpResponse:
    response = page(
        request,
        template,
        {**context, "navigation": PAGES, "language": "en"},
        status=status,
        added_style=_STYLE,
        forms=forms,
    )
    response["Cache-Control"] = "no-cache"
    return response


def is_missing_document(request: HttpRequest) -> bool:
    """Whether a browser requested a page of the documentation; programs get the error of the API."""
    accept = request.META.get("HTTP_ACCEPT", "")
    return (
        request.path_info.startswith(f"{DOCS_PATH}/")
        and request.method in ("GET", "HEAD")
        and "text/html" in accept.lower()
        and not prefers_json(request)
        and is_on_system_host(request)
    )


def missing_document(request: HttpRequest) -> HttpResponse:
    return document(request, "documents/missing.html", {}, status=404)
