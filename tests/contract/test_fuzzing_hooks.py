"""Which refusals count as described when generated requests are checked: the check is as strict as documented."""

from types import SimpleNamespace
from typing import Any

import pytest
from schemathesis.openapi.checks import RejectedPositiveData

from testing.cases import for_each
from testing.contract.fuzzing_hooks import filter_failure, is_described


def refusal(field: str, code: str, message: str = "Is not good.") -> dict[str, Any]:
    error = {"field": field, "code": code, "message": message}
    return {"success": False, "message": message, "code": "validation_error", "errors": [error]}


DESCRIBED = [
    refusal("tags.0", "blank_tag"),
    refusal("title", "max_length"),
    refusal("logo", "invalid", "Is no picture."),
    {"success": False, "message": "Not yet.", "code": "dns_not_configured"},
]


@for_each(
    ("response", "body", "verdict"),
    [
        (refusal("tags.0", "blank_tag", "In other words."), {}, True),
        (refusal("tags.17", "blank_tag"), {}, True),
        (refusal("tags.0", "other"), {}, False),
        (refusal("title", "blank_tag"), {}, False),
        # A schema can state the length of a title, and then nothing longer is sent.
        (refusal("title", "max_length"), {}, False),
        (refusal("logo", "invalid", "Is no picture."), {}, True),
        (refusal("logo", "invalid", "Not a valid string."), {}, False),
        ({"code": "dns_not_configured", "message": "x"}, {}, True),
        ({"code": "bad_request", "message": "x"}, {}, False),
        ({"code": "invalid_json", "message": "The request body contains a NUL character."}, {}, True),
        ({"code": "invalid_json", "message": "The request body is not UTF-8."}, {}, False),
        (refusal("search", "null_characters_not_allowed"), None, True),
        (refusal("other", "unknown_field"), {"other": 1}, True),
        (refusal("\\.\\d+", "unknown_field"), {"\\.\\d+": []}, True),
        (refusal("utm.other", "unknown_field"), {"utm": {"other": 1}}, False),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": {"size": 5.0}}, True),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": {"size": 5}}, False),
        (refusal("a.size", "invalid", "A valid integer is required."), {"a": [5.0]}, False),
        (refusal("a.0.size", "invalid", "A valid integer is required."), {"a": [{"size": 5.0}]}, True),
        (refusal("a.1.size", "invalid", "A valid integer is required."), {"a": [{"size": 5.0}]}, False),
        (refusal("a.size", "invalid", "A valid integer is required."), None, False),
    ],
)
def test_which_refusals_count_as_described(response: dict[str, Any], body: Any, verdict: bool) -> None:
    assert is_described(response, DESCRIBED, body) is verdict


@pytest.mark.parametrize("status", [412, 414])
@pytest.mark.parametrize("described", [True, False])
def test_a_random_etag_and_a_long_url_may_be_refused_where_that_is_described(
    status: int, described: bool
) -> None:
    definition = SimpleNamespace(raw={"responses": {str(status): {}} if described else {}})
    case = SimpleNamespace(operation=SimpleNamespace(definition=definition), headers={"If-Match": '"x"'})
    failure = RejectedPositiveData.__new__(RejectedPositiveData)
    is_failure = filter_failure(None, failure, case, SimpleNamespace(status_code=status))
    assert is_failure is not described


def test_only_a_request_with_an_etag_may_be_refused_for_its_version() -> None:
    definition = SimpleNamespace(raw={"responses": {"412": {}}})
    case = SimpleNamespace(operation=SimpleNamespace(definition=definition), headers=None)
    failure = RejectedPositiveData.__new__(RejectedPositiveData)
    assert filter_failure(None, failure, case, SimpleNamespace(status_code=412))
