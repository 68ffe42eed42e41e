"""A page for each operation of the API, from its description: words, parameters, samples, a response and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.utils.safestring import SafeString
from rest_framework.request import Request

from common.error_catalogue import DOCS_PATH as ERRORS_PATH
from common.errors import NotFound
from shortener_project.web.documents import DOCS_PATH, OPERATIONS_PATH, document
from shortener_project.web.markdown import render
from shortener_project.web.schema import PublicDocument, described


class Parameter(NamedTuple):
    name: str
    place: str
    is_required: bool
    text: SafeString


class Variable(NamedTuple):
    name: str
    text: SafeString


class Sample(NamedTuple):
    label: str
    source: str


class Operation(NamedTuple):
    """``response`` is an example of success as JSON; empty: there is none. ``description`` is Markdown."""

    id: str
    tag: str
    method: str
    path: str
    summary: str
    description: str
    parameters: Sequence[Parameter]
    variables: Sequence[Variable]
    samples: Sequence[Sample]
    response: str
    errors: Sequence[str]

    @property
    def address(self) -> str:
        return f"{OPERATIONS_PATH}/{self.id}"


class OperationsView(PublicDocument):
    def get(self, request: Request) -> HttpResponse:
        described_tags: Any = settings.SPECTACULAR_SETTINGS["TAGS"]
        tags = {each["name"]: each["description"] for each in described_tags}
        groups = groupby(sorted(operations().values(), key=lambda each: list(tags).index(each.tag)), key=_tag)
        return document(
            request._request,
            "documents/operations.html",
            {"tags": [(tag, tags[tag], list(group)) for tag, group in groups]},
        )


class OperationView(PublicDocument):
    def get(self, request: Request, name: str) -> HttpResponse:
        operation = operations().get(name)
        if operation is None:
            raise NotFound("There is no such operation.")
        return document(
            request._request,
            "documents/operation.html",
            {
                "operation": operation,
                "description": render(operation.description).html,
                "path": OPERATIONS_PATH,
                "errors_path": ERRORS_PATH,
                "reference": DOCS_PATH,
            },
        )


def _tag(operation: Operation) -> str:
    return operation.tag


@cache
def operations() -> dict[str, Operation]:
    """All operations by id."""
    return {
        operation["operationId"]: _operation(path, method, operation)
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
    }


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> Operation:
    return Operation(
        operation["operationId"],
        operation["tags"][0],
        method.upper(),
        path,
        operation["summary"],
        operation["description"],
        [
            Parameter(
                each["name"], each["in"], each.get("required", False), _html(each.get("description", ""))
            )
            for each in operation.get("parameters", ())
        ],
        [Variable(name, _html(text)) for name, text in operation["x-sampleVariables"].items()],
        [Sample(each["label"], each["source"]) for each in operation["x-codeSamples"]],
        _response(operation),
        _errors(operation),
    )


def _html(text: str) -> SafeString:
    return render(text).html


def _response(operation: Mapping[str, Any]) -> str:
    for status, response in sorted(operation["responses"].items()):
        examples = response.get("content", {}).get("application/json", {}).get("examples", {})
        if status < "300" and examples:
            value = next(iter(examples.values()))["value"]
            return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return ""


def _errors(operation: Mapping[str, Any]) -> list[str]:
    """The codes that the description lists, by status."""
    codes = (
        code
        for status, response in sorted(operation["responses"].items())
        if status >= "400" and "application/json" in response.get("content", {})
        for code in response["content"]["application/json"]["schema"]["properties"]["code"]["enum"]
    )
    return list(dict.fromkeys(codes))
