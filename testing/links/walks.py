"""Walks through lists of the API, by the header ``Link``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from rest_framework.test import APIClient

_LINK = re.compile(r'<([^>]*)>; rel="(\w+)"')


def links_of(response: Any) -> dict[str, str]:
    """The addresses of other pages, by their relation."""
    return {relation: address for address, relation in _LINK.findall(response.get("Link", ""))}


def pages_of(
    client: APIClient, path: str, query: dict[str, Any], *, relation: str = "next"
) -> Iterator[dict[str, Any]]:
    """The data of each page, from the one of ``query`` on."""
    response = client.get(path, query)
    while True:
        assert response.status_code == 200, response.content
        yield response.json()["data"]
        if (address := links_of(response).get(relation)) is None:
            return
        response = client.get(address)


def walked(
    client: APIClient,
    path: str,
    name: str,
    query: dict[str, Any],
    *,
    between: Callable[[], object] = lambda: None,
) -> list[dict[str, Any]]:
    """All entries of the list ``name``. ``between``: what happens between two pages."""
    entries = []
    for data in pages_of(client, path, query):
        entries += data[name]
        between()
    return entries
