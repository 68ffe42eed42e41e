"""What schemathesis is told of the API beyond its description. Loaded by schemathesis itself."""

from __future__ import annotations

import itertools
import re
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis.openapi.checks import RejectedPositiveData

# Rules that a schema can say: who keeps them and is refused for one of these has found what the description lacks.
SAID_BY_SCHEMAS = {
    *("required", "null", "blank", "invalid_choice", "not_a_list", "unknown"),
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
    """Most links go to the default domain: made-up ids would have them all refused."""
    if isinstance(body, dict) and isinstance(body.get("domainId"), str) and len(body["domainId"]) % 4:
        return {**body, "domainId": "base"}
    return body


@schemathesis.hook
def map_headers(context: Any, headers: Any) -> Any:
    """Every request has a key of its own: made-up ones are another's too often, and answered as that one was."""
    key = (headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r"[!-~]([ -~]*[!-~])?", key) and len(key) <= 200:
        return {**headers, "Idempotency-Key": f"{key}{next(_numbers)}"}
    return headers


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """A refusal of what keeps to the schema is right if the description has this very refusal as an example."""
    if not isinstance(failure, RejectedPositiveData) or response.status_code not in (400, 414, 422):
        return True
    if response.status_code == 422:
        return response.json()["code"] != "idempotency_mismatch"
    if response.status_code == 414:
        return "414" not in case.operation.definition.raw["responses"]
    described = case.operation.definition.raw["responses"]["400"]["content"]["application/json"]["examples"]
    return not is_described(response.json(), [each["value"] for each in described.values()], case.body)


def is_described(refusal: dict[str, Any], described: list[dict[str, Any]], body: Any) -> bool:
    # Of NUL and of integers the head of the description says what holds for all.
    if refusal["code"] == "invalid_json":
        return refusal["message"] == "The request body holds a NUL character."
    if refusal["code"] != "validation_error":
        return refusal["code"] in {each["code"] for each in described}
    rules = {_rule(error) for each in described for error in each.get("errors", [])}
    return all(
        (_rule(error) in rules and error["code"] not in SAID_BY_SCHEMAS)
        or error["code"] == "null_characters_not_allowed"
        or _is_integral(error, body)
        for error in refusal["errors"]
    )


def _rule(error: dict[str, str]) -> tuple[str, ...]:
    # Every item of a list is like the first.
    field = re.sub(r"\.\d+", ".0", error["field"])
    # This one code has many a reason, among them a wrong type.
    return (field, error["code"], error["message"]) if error["code"] == "invalid" else (field, error["code"])


def _is_integral(error: dict[str, str], body: Any) -> bool:
    """Whether it is about 5.0, an integer to schemas but not to the API."""
    value = body
    for key in error["field"].split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, float) and error["message"] == "A valid integer is required."
