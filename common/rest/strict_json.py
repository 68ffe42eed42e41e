"""Request bodies: strict JSON objects (RFC 8259 without the parts on which parsers disagree)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser

from common.errors import BadBody, BodyTooLarge

MAX_BODY_BYTES = 64 * 1024
MAX_DEPTH = 16


class StrictJSONParser(BaseParser):
    """Parse at most ``max_bytes`` of UTF-8: one JSON object without anything ambiguous."""

    media_type = "application/json"
    max_bytes = MAX_BODY_BYTES

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        meta = (parser_context or {})["request"].META
        encoding = meta.get("HTTP_CONTENT_ENCODING", "identity")
        if encoding.lower() != "identity" or not _is_utf8(media_type or ""):
            raise UnsupportedMediaType(
                media_type or "", f"Send plain UTF-8 JSON, not {encoding} of {media_type}."
            )
        if int(meta.get("CONTENT_LENGTH") or 0) > self.max_bytes:
            raise _too_large(self.max_bytes)
        return parse_object(stream.read(self.max_bytes + 1), self.max_bytes)


def parse_object(body: bytes, max_bytes: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Parse a body that must be one JSON object. Raises BadBody or BodyTooLarge."""
    if len(body) > max_bytes:
        raise _too_large(max_bytes)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise BadBody("The request body is not UTF-8.") from None
    try:
        value = json.loads(
            text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise BadBody(f"The request body is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError as error:
        # The decoder's message contains the position of the error.
        raise BadBody(f"The request body is not valid JSON: {error}"[:200]) from None
    if not isinstance(value, dict):
        raise BadBody("The request body must be a JSON object.")
    _check(value, depth=1)
    return value


def _too_large(max_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(f"The request body is larger than {max_bytes} bytes.")


def _is_utf8(media_type: str) -> bool:
    _, _, charset = media_type.lower().partition("charset=")
    return charset.partition(";")[0].strip(' "') in ("", "utf-8", "utf8")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key in an object")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            raise BadBody(f"The request body is nested deeper than {MAX_DEPTH} levels.")
        if isinstance(value, dict):
            for key in value:
                _check_text(key)
        for item in value.values() if isinstance(value, dict) else value:
            _check(item, depth + 1)


def _check_text(text: str) -> None:
    """Reject NUL and lone surrogates anywhere in the body, because PostgreSQL cannot store them."""
    if "\0" in text:
        raise BadBody("The request body contains a NUL character.")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise BadBody("The request body contains a lone surrogate.")
