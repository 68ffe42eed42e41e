"""Which refusals count as described when made-up requests are judged, so that the judge is no softer than it says."""

from typing import Any

import pytest

from tests.contract.fuzzing_hooks import is_described


def refusal(field: str, code: str, message: str = "Is not good.") -> dict[str, Any]:
    error = {"field": field, "code": code, "message": message}
    return {"success": False, "message": message, "code": "validation_error", "errors": [error]}


DESCRIBED = [
    refusal("tags.0", "blank_tag"),
    refusal("title", "max_length"),
    refusal("logo", "invalid", "Is no picture."),
    {"success": False, "message": "Not yet.", "code": "dns_not_configured"},
]


@pytest.mark.parametrize(
    ("answer", "body", "verdict"),
    [
        (refusal("tags.0", "blank_tag", "In other words."), {}, True),
        (refusal("tags.17", "blank_tag"), {}, True),
        (refusal("tags.0", "other"), {}, False),
        (refusal("title", "blank_tag"), {}, False),
        # A schema can say how long a title is, and then nothing longer is sent.
        (refusal("title", "max_length"), {}, False),
        (refusal("logo", "invalid", "Is no picture."), {}, True),
        (refusal("logo", "invalid", "Not a valid string."), {}, False),
        ({"code": "dns_not_configured", "message": "x"}, {}, True),
        ({"code": "bad_request", "message": "x"}, {}, False),
        ({"code": "invalid_json", "message": "The request body holds a NUL character."}, {}, True),
        ({"code": "invalid_json", "message": "The request body is not UTF-8."}, {}, False),
        (refusal("search", "null_characters_not_allowed"), None, True),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": {"size": 5.0}}, True),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": {"size": 5}}, False),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": [5.0]}, False),
        (refusal("a.size", "invalid", "A valid integer is required."), None, False),
    ],
)
def test_a_refusal_is_described_or_it_is_not(answer: dict[str, Any], body: Any, verdict: bool) -> None:
    assert is_described(answer, DESCRIBED, body) is verdict
