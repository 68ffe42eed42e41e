"""The pages about the codes of errors: the catalogue, with examples and operations from the OpenAPI description.

They are in English, as the messages of errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from common.error_catalogue import CATALOGUE, DOCS_PATH, ErrorCode, docs_address
from common.errors import NotFound
from shortener_project.web.documents import document
from shortener_project.web.markdown import render
from shortener_project.web.operations import Operation, operations
from shortener_project.web.schema import PublicDocument, described

# In the examples, where each response has its own.
_REQUEST_ID = "019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b76"


class ErrorCodesView(PublicDocument):
    def get(self, request: Request) -> HttpResponse:
        return document(request._request, "errors/index.html", {"catalogue": CATALOGUE, "path": DOCS_PATH})


class ErrorCodeView(PublicDocument):
    def get(self, request: Request, code: str) -> HttpResponse:
        entry = CATALOGUE.get(code)
        if entry is None:
            raise NotFound("There is no such error code.")
        example = example_of(code, entry)
        return document(
            request._request,
            "errors/code.html",
            {
                "code": code,
                "entry": entry,
                "cause": render(entry.cause).html,
                "remedy": render(entry.remedy).html,
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
            named = operations()[operation["operationId"]]
            for status, response in operation["responses"].items():
                if status >= "400":
                    for content in response.get("content", {}).values():
                        for example in content["examples"].values():
                            yield named, example["value"]
