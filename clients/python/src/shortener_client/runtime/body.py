"""The body of an answer, which remembers the headers that came with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from .errors import UnexpectedAnswer


class Body(dict[str, Any]):
    """A decoded JSON object."""

    __slots__ = ("headers",)

    def __init__(self, values: dict[str, Any], headers: httpx.Headers) -> None:
        super().__init__(values)
        self.headers = headers


def headers_of(answer: Mapping[str, object]) -> httpx.Headers:
    """The headers of the response from which this answer came: ``headers_of(link)["ETag"]``."""
    if not isinstance(answer, Body):
        raise TypeError("This is not the whole answer of a call.")
    return answer.headers


def decoded(response: httpx.Response) -> Any:
    """The JSON of a response that has been read."""
    try:
        value = response.json()
    except ValueError:
        raise UnexpectedAnswer(f"{response.url} answered {response.status_code} without JSON.") from None
    return Body(value, response.headers) if isinstance(value, dict) else value
