"""Request bodies and their examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiRequest
from rest_framework.serializers import Serializer


def request_body(
    serializer: type[Serializer[Any]] | None,
    examples: Sequence[Mapping[str, Any]],
    placeholders: Mapping[str, str],
) -> OpenApiRequest | None:
    """``placeholders``: values that the reader must replace before an example succeeds, by field."""
    if serializer is None:
        return None
    names = ["Example"] if len(examples) == 1 else [f"Example {n + 1}" for n in range(len(examples))]
    return OpenApiRequest(
        serializer,
        examples=[
            OpenApiExample(name, dict(value), description=_instructions(value, placeholders))
            for name, value in zip(names, examples, strict=True)
        ],
    )


def _instructions(value: Any, placeholders: Mapping[str, str]) -> str:
    names = _names(value)
    return " ".join(f"Replace `{name}` with {text}." for name, text in placeholders.items() if name in names)


def _names(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set(value).union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()
