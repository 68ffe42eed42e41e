"""The files of the front end, read and compressed once per process, when they are first requested."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FRONT = Path(__file__).parent / "front"
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
}
_CONTENT_TYPES[".mjs"] = _CONTENT_TYPES[".js"]


# The types of our modules are for editors, and would be a quarter of what a page loads. Vendored files keep their
# licences. The linter refuses texts that look like such a comment.
_TYPES = re.compile(rb"^[ \t]*/\*\*(?!/).*?\*/", re.DOTALL | re.MULTILINE)
_VENDORED = ("vendor/", "icons/")


class Content(NamedTuple):
    plain: bytes
    gzipped: bytes


class File(NamedTuple):
    content: Content
    content_type: str


def compressed(content: bytes) -> Content:
    return Content(content, gzip.compress(content, mtime=0))


@cache
def names() -> Mapping[str, Path]:
    """Every file that browsers may request, by its path below ``front``."""
    return {
        path.relative_to(FRONT).as_posix(): path
        for path in sorted(FRONT.rglob("*"))
        if path.suffix in _CONTENT_TYPES
    }


@cache
def version() -> str:
    """Changes with any file as it is served. URLs have it, so browsers may keep each file as long as they like."""
    digest = hashlib.sha256()
    for name in names():
        digest.update(f"{name}\0{hashlib.sha256(_served(name)).hexdigest()}\0".encode())
    return digest.hexdigest()[:16]


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file of texts; English first, because it is the default."""
    languages_with_texts = {Path(name).stem for name in names() if name.startswith("texts/")}
    return ("en", *sorted(languages_with_texts - {"en"}))


def read(name: str) -> File | None:
    return _read(name) if name in names() else None


@cache
def _read(name: str) -> File:
    return File(compressed(_served(name)), _CONTENT_TYPES[names()[name].suffix])


def _served(name: str) -> bytes:
    path = names()[name]
    is_our_module = path.suffix == ".js" and not name.startswith(_VENDORED)
    return _without_types(path.read_bytes()) if is_our_module else path.read_bytes()


def _without_types(module: bytes) -> bytes:
    """Lines keep their numbers, which errors name."""
    return _TYPES.sub(lambda comment: b"\n" * comment[0].count(b"\n"), module)
