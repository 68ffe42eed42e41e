"""Rules of the API that its description cannot express. Schemathesis loads this module."""

from __future__ import annotations

import itertools
import re
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.openapi.checks import RejectedPositiveData

# Rules that a schema can express. If a request conforms to the schema and breaks one of them, the description is
# incomplete.
SCHEMA_RULES = {
    *("required", "null", "blank", "invalid_choice", "not_a_list", "unknown_field"),
    *("min_value", "max_value", "min_length", "max_length"),
}

_LABEL = st.from_regex(r"[a-z][a-z0-9]{0,20}", fullmatch=True)
_PATH = st.text(max_size=60).filter(lambda text: not re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", text))
_ADDRESS = st.builds(
    "{}://{}.{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    _LABEL,
    st.sampled_from(["example", "example.com", "xn--bcher-kva.example", "b\u00fccher.example"]),
    st.sampled_from(["", ":443", ":8080"]),
    st.one_of(st.just(""), _PATH.map("/{}".format), _PATH.map("/?q={}".format)),
)
schemathesis.openapi.format("uri", _ADDRESS)

_numbers = itertools.count()


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Use the default domain in most requests: the service rejects random domain ids."""
    if isinstance(body, dict) and isinstance(body.get("domainId"), str) and len(body["domainId"]) % 4:
        return {**body, "domainId": "base"}
    return body


@schemathesis.hook
def map_headers(context: Any, headers: Any) -> Any:
    """Make every key unique: generated keys repeat, and a repeated key returns a stored response."""
    key = (headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r"[!-~]([ -~]*[!-~])?", key) and len(key) <= 200:
        return {**headers, "Idempotency-Key": f"{key}{next(_numbers)}"}
    return headers


@schemathesis.hook
def map_case(context: Any, case: Any) -> Any:
    """Leave out a workspace that the service does not know, unless the headers are what is tested.

    Otherwise, the response to almost every systematic request would be a 404.
    """
    data = case.meta.phase.data
    if isinstance(data, CoveragePhaseData) and data.parameter_location != ParameterLocation.HEADER:
        case.headers.pop("X-Workspace", None)
    return case


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Accept the rejection of a valid request if the description has the same rejection as an example."""
    if not isinstance(failure, RejectedPositiveData) or response.status_code not in (400, 412, 414, 422):
        return True
    if response.status_code == 422:
        return response.json()["code"] != "idempotency_mismatch"
    if response.status_code == 412 and "if-match" not in {name.lower() for name in case.headers or {}}:
        return True
    # A random ETag is of no version of the object, and a random URL may be too long.
    if response.status_code in (412, 414):
        return str(response.status_code) not in case.operation.definition.raw["responses"]
    examples = case.operation.definition.raw["responses"]["400"]["content"]["application/json"]["examples"]
    return not is_described(response.json(), [example["value"] for example in examples.values()], case.body)


def is_described(refusal: dict[str, Any], examples: list[dict[str, Any]], body: Any) -> bool:
    # The introduction of the description states the rules for NUL and for integers.
    if refusal["code"] == "invalid_json":
        return refusal["message"] == "The request body contains a NUL character."
    if refusal["code"] != "validation_error":
        return refusal["code"] in {example["code"] for example in examples}
    rules = {_rule(error) for example in examples for error in example.get("errors", [])}
    return all(
        (_rule(error) in rules and error["code"] not in SCHEMA_RULES)
        or error["code"] == "null_characters_not_allowed"
        # A random name may look like a known one. Only nested objects are closed in the description.
        or (error["code"] == "unknown_field" and _is_top_level(error["field"], body))
        or _is_integral(error, body)
        for error in refusal["errors"]
    )


def _rule(error: dict[str, str]) -> tuple[str, ...]:
    # The rules are the same for every item of a list.
    field = re.sub(r"\.\d+", ".0", error["field"])
    # This code has several reasons, such as a wrong type, so compare the message too.
    return (field, error["code"], error["message"]) if error["code"] == "invalid" else (field, error["code"])


def _is_top_level(field: str, body: Any) -> bool:
    """Whether the error concerns a member of the body itself, whose random name may contain dots."""
    return "." not in field or (isinstance(body, dict) and field in body)


def _is_integral(error: dict[str, str], body: Any) -> bool:
    """Whether the error concerns a value such as 5.0: an integer for schemas, but not for the API."""
    value = body
    for key in error["field"].split("."):
        if isinstance(value, list) and key.isdigit():
            value = dict(enumerate(value)).get(int(key))
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, float) and error["message"] == "A valid integer is required."
