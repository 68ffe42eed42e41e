"""Calls of the API with naughty strings."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

MakeLink = Callable[..., dict[str, Any]]
URL = "https://example.com/"
UTM = ("source", "medium", "campaign", "term", "content")


@pytest.fixture(autouse=True)
def quick_hashes(settings: Settings) -> None:
    """Hundreds of passwords are stored here."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def fits(text: str, most: int) -> bool:
    return is_text(text) and len(unicodedata.normalize("NFC", text)) <= most


def in_address(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def send(client: APIClient, method: str, path: str, body: Any) -> HttpResponse:
    """Escapes the body: a lone surrogate can only be sent escaped."""
    return client.generic(method, path, json.dumps(body), "application/json")


STORED: dict[str, tuple[Callable[[str], Any], Callable[[str], bool]]] = {
    "title": (lambda text: text, lambda text: fits(text, 200)),
    "description": (lambda text: text, lambda text: fits(text, 500)),
    "tags": (lambda text: [text], lambda text: fits(text, 50) and bool(text.strip())),
    "utm": (lambda text: dict.fromkeys(UTM, text), lambda text: fits(text, 200)),
    "password": (lambda text: text, lambda text: is_text(text) and 1 <= len(text) <= 128),
}
