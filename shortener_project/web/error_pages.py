"""The pages about the codes of errors: the catalogue, with examples and operations from the OpenAPI description.

They are in English, as the messages of errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import orjson
from django.http import HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from rest_framework.request import Request

from common.error_catalogue import CATALOGUE, DOCS_PATH, ErrorCode, docs_address
from common.errors import NotFound
from pages.responses import page
from shortener_project.web.schema import PublicDocument, described

_STYLE = (
    "body{grid-template-columns:minmax(0,1fr)}main{width:min(48rem,100% - 2rem)}"
    "h2{font-size:1.125rem;margin:1.5rem 0 .5rem}"
    "pre{overflow-x:auto;padding:.75rem;border:1px solid var(--line);border-radius:8px}pre code{white-space:pre}"
    "td a{text-underline-offset:6px}table{width:100%;border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.375rem .5rem;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}"
)
# In the examples, where each response has its own.
_REQUEST_ID = "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b76"


class Operation(NamedTuple):
    id: str
    tag: str
    summary: str


class ErrorCodesView(PublicDocument):
    def get(self, request: Request) -> HttpResponse:
        return _page(request, "errors/index.html", {"catalogue": CATALOGUE})


class ErrorCodeView(PublicDocument):
    def get(self, request: Request, code: str) -> HttpResponse:
        entry = CATALOGUE.get(code)
        if entry is None:
            raise NotFound("There is no such error code.")
        example = example_of(code, entry)
        return _page(
            request,
            "errors/code.html",
            {
                "code": code,
                "entry": entry,
                "cause": _marked(entry.cause),
                "remedy": _marked(entry.remedy),
                "example": orjson.dumps(example, option=orjson.OPT_INDENT_2).decode(),
                "operations": [operation for operation, body in _described_errors() if body["code"] == code],
                "field_rules": _field_rules() if code == "validation_error" else {},
            },
        )


def example_of(code: str, entry: ErrorCode) -> dict[str, Any]:
    """The body of a response: a short one of the description, if it has any."""
    found = [body for _, body in _described_errors() if body["code"] == code]
    other = {"success": False, "message": f"{entry.title}.", "code": code, "docs": docs_address(code)}
    shortest = min(found, key=lambda body: len(body.get("errors", ())), default=other)
    return {**shortest, "requestId": _REQUEST_ID}


def _page(request: Request, template: str, context: Mapping[str, Any]) -> HttpResponse:
    response = page(
        request._request,
        template,
        {**context, "path": DOCS_PATH, "language": "en"},
        added_style=_STYLE,
        forms="'none'",
    )
    response["Cache-Control"] = "no-cache"
    return response


def _marked(text: str) -> SafeString:
    """Markdown's marks of code as HTML."""
    parts = text.split("`")
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts)),
    )


@cache
def _described_errors() -> list[tuple[Operation, Mapping[str, Any]]]:
    """The first example of each code in each operation."""
    found: dict[tuple[str, str], tuple[Operation, Mapping[str, Any]]] = {}
    for operation, body in _examples():
        found.setdefault((operation.id, body["code"]), (operation, body))
    return list(found.values())


@cache
def _field_rules() -> dict[str, Mapping[str, Any]]:
    """An example of each code of a field, by code."""
    rules = {error["code"]: error for _, body in _examples() for error in body.get("errors", ())}
    return dict(sorted(rules.items()))


def _examples() -> Iterator[tuple[Operation, Mapping[str, Any]]]:
    for methods in described()["paths"].values():
        for operation in methods.values():
            named = Operation(operation["operationId"], operation["tags"][0], operation["summary"])
            for status, response in operation["responses"].items():
                if status >= "400":
                    for content in response.get("content", {}).values():
                        for example in content["examples"].values():
                            yield named, example["value"]
