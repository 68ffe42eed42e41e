from __future__ import annotations

from typing import Any

import pytest
from rest_framework import serializers

from common.errors import FieldError, InvalidFields
from common.rest.fields import Boolean, Integer, Object, StrictObject, Text
from common.rest.unknown_fields import MAX_UNKNOWN, Handling, prefers_strict


class Limits(StrictObject):
    maxClicks = Integer(required=False)  # noqa: N815 # a name as in the API
    source = Text(required=False)


class Item(Object):
    isActive = Boolean(required=False)  # noqa: N815 # a name as in the API


class Body(Object):
    returned = frozenset({"createdAt"})
    inner = {"items.0": Item}

    originalUrl = Text(required=False)  # noqa: N815 # a name as in the API
    password = Text(required=False)
    limits = Limits(required=False, allow_null=True)


def refusals(
    data: dict[str, Any], body: serializers.Serializer[Any] | None = None, **options: Any
) -> list[FieldError]:
    with pytest.raises(InvalidFields) as refused:
        Handling(is_strict=False).read(body or Body(), data, **options)
    return refused.value.errors


@pytest.mark.parametrize(
    ("data", "field", "meant"),
    [
        ({"original_url": 1}, "original_url", "originalUrl"),
        ({"ORIGINAL-URL": 1}, "ORIGINAL-URL", "originalUrl"),
        ({"pasword": 1}, "pasword", "password"),
        ({"passwrod": 1}, "passwrod", "password"),
        # One level below, alone or with the name of its object, with at most one edit.
        ({"maxClicks": 1}, "maxClicks", "limits.maxClicks"),
        ({"max_click": 1}, "max_click", "limits.maxClicks"),
        ({"limits_maxClicks": 1}, "limits_maxClicks", "limits.maxClicks"),
        ({"limits.max_clicks": 1}, "limits.max_clicks", "limits.maxClicks"),
        ({"isActive": True}, "isActive", "items.0.isActive"),
        # One level above, and in the object itself.
        ({"limits": {"Password": 1}}, "limits.Password", "password"),
        ({"limits": {"maxclick": 1}}, "limits.maxclick", "limits.maxClicks"),
        ({"limits": {"limits_source": "x"}}, "limits.limits_source", "limits.source"),
    ],
)
def test_name_that_resembles_a_known_one_is_refused(data: dict[str, Any], field: str, meant: str) -> None:
    message = f"Unknown field. Did you mean {meant}?"
    assert refusals(data) == [FieldError(field, "unknown_field", message, meant)]


@pytest.mark.parametrize(
    "name", ["colour", "", "_", "\N{GRINNING FACE}", "q", "sourced by", "pass", "x" * 10_000, "createdat_"]
)
def test_any_other_name_causes_a_warning(name: str) -> None:
    fields, [warning] = Handling(is_strict=False).read(Body(), {"password": "x", name: 1})
    assert fields == {"password": "x"}
    assert warning == (name[:200], "unknown_field", "Unknown field; it was ignored.")


def test_fields_of_responses_are_ignored_without_a_warning() -> None:
    for is_strict in (False, True):
        assert Handling(is_strict=is_strict).read(Body(), {"createdAt": 1}) == ({}, [])


def test_closed_object_accepts_no_unknown_name() -> None:
    assert refusals({"limits": {"colour": 1}}) == [
        FieldError("limits.colour", "unknown_field", "Unknown field.")
    ]


def test_names_of_the_object_outside_are_compared_too() -> None:
    [error] = refusals({"original_url": "x"}, Item(), outer=Body)
    assert error.did_you_mean == "originalUrl"
    # Without edits: far more names are similar to those of another level.
    assert Handling(is_strict=False).read(Item(), {"pasword": "x"}, outer=Body)[0] == {}


def test_all_broken_rules_are_reported_at_once() -> None:
    errors = refusals({"password": 5, "pasword": "x", "colour": 1, "limits": {"maxClicks": "5", "max": 1}})
    assert [(error.field, error.code) for error in errors] == [
        ("pasword", "unknown_field"),
        ("limits.max", "unknown_field"),
        ("password", "invalid"),
        ("limits.maxClicks", "invalid"),
    ]


def test_strict_handling_refuses_every_unknown_name() -> None:
    with pytest.raises(InvalidFields) as refused:
        Handling(is_strict=True).read(Body(), {"colour": 1, "password": "x"}, noun="parameter")
    assert refused.value.errors == [FieldError("colour", "unknown_field", "Unknown parameter.")]
    assert refused.value.code == "unknown_field"


def test_different_names_of_a_request_are_limited() -> None:
    handling = Handling(is_strict=False)
    for number in range(MAX_UNKNOWN):
        handling.read(Body(), {f"key{number}": 1})
    # Names that occurred before cost nothing.
    assert len(handling.read(Body(), {"key0": 1, "key1": 1})[1]) == 2
    with pytest.raises(InvalidFields):
        handling.read(Body(), {"another": 1})


@pytest.mark.parametrize(
    ("prefer", "expected"),
    [
        ("handling=strict", True),
        ("Handling = strict", True),
        ('handling="strict"', True),
        ("respond-async, handling=strict; foo=bar", True),
        ("handling=strict,wait=10", True),
        ("", False),
        ("handling=lenient", False),
        ("handling", False),
        ("strict", False),
        ("handling=stricter", False),
        ("mishandling=strict", False),
        ("foo; handling=strict", False),
    ],
)
def test_prefer_header(prefer: str, expected: bool) -> None:
    assert prefers_strict(prefer) is expected
