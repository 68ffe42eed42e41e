from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from rest_framework.fields import CharField

from common.openapi.responses import Field, Representation, count, moment, text
from common.rest.fields import iso_utc

POINT = Representation(
    "Point",
    text("name", "name", "home", "What it is called."),
    count("distance", lambda point: point.x + point.y, 3),
    moment("seenAt", "seen_at", allow_null=True),
    Field("note", None, CharField(required=False)),
)


def test_an_object_has_the_fields_with_a_source_in_their_order() -> None:
    point = SimpleNamespace(name="a", x=1, y=2, seen_at=datetime(2030, 1, 2, tzinfo=UTC))
    assert list(POINT(point).items()) == [
        ("name", "a"),
        ("distance", 3),
        ("seenAt", "2030-01-02T00:00:00Z"),
    ]
    assert POINT(SimpleNamespace(name="a", x=1, y=2, seen_at=None))["seenAt"] is None


def test_only_the_named_fields_are_read() -> None:
    assert POINT.only({"name", "unknown"}, SimpleNamespace(name="a")) == {"name": "a"}


def test_a_picked_object_can_read_its_fields_elsewhere() -> None:
    picked = POINT.pick("Label", "distance name", name="label")
    assert picked(SimpleNamespace(label="b", x=0, y=1)) == {"distance": 1, "name": "b"}


def test_the_example_leaves_out_fields_without_one() -> None:
    assert POINT.example == {"name": "home", "distance": 3}
    assert POINT.listed("points").example == [{"name": "home", "distance": 3}]


def test_the_component_has_every_field_and_optional_copies_leave_the_original_required() -> None:
    assert list(POINT.serializer().fields) == ["name", "distance", "seenAt", "note"]
    field = POINT.fields[0]
    assert field.optional().schema.required is False
    assert field.optional().schema.help_text == "What it is called."
    assert field.schema.required is True


@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=2)), timezone(timedelta(hours=-3, minutes=-30))]
)
@pytest.mark.parametrize("microsecond", [0, 120])
def test_times_are_written_in_utc(zone: timezone, microsecond: int) -> None:
    moment = datetime(2030, 5, 6, 7, 8, 9, microsecond, UTC).astimezone(zone)
    assert iso_utc(moment) == ("2030-05-06T07:08:09.000120Z" if microsecond else "2030-05-06T07:08:09Z")
