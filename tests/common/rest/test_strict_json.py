import json
from typing import Any

import pytest

from common.errors import BadBody, BodyTooLarge
from common.rest.strict_json import parse_object
from testing.cases import for_each
from tests.common.rest.json_bodies import KB_64, REFUSED, nested, nested_objects, sized

ACCEPTED: dict[str, tuple[bytes, dict[str, Any]]] = {
    "empty object": (b"{}", {}),
    "white space around": (b" \t\r\n{ \n} \r\n", {}),
    "every type": (
        b'{"s":"t","i":1,"f":1.5,"t":true,"f2":false,"n":null,"a":[],"o":{}}',
        {"s": "t", "i": 1, "f": 1.5, "t": True, "f2": False, "n": None, "a": [], "o": {}},
    ),
    "numbers": (
        b'{"a":-0,"b":0.0,"c":1E5,"d":1e-5,"e":-12,"f":1e308}',
        {"a": 0, "b": 0.0, "c": 1e5, "d": 1e-5, "e": -12, "f": 1e308},
    ),
    "integer of 4,000 digits": (b'{"x":1' + b"0" * 3999 + b"}", {"x": 10**3999}),
    "escapes": (
        rb'{"x":"\"\\\/\b\f\n\r\t\u00e9\u20AC"}',
        {"x": '"\\/\b\f\n\r\té€'},
    ),
    "surrogate pair escaped": (rb'{"\uD83D\uDE00":"\ud83d\ude00"}', {"😀": "😀"}),
    "UTF-8": ('{"ключ":"é😀👩‍👩‍👧"}'.encode(), {"ключ": "é😀👩‍👩‍👧"}),
    "noncharacters": ('{"x":"\ufffe\uffff"}'.encode(), {"x": "\ufffe\uffff"}),
    "byte order mark inside a string": ('{"x":"\ufeff"}'.encode(), {"x": "\ufeff"}),
    "delete character": (b'{"x":"\x7f"}', {"x": "\x7f"}),
    "empty key": (b'{"":1}', {"": 1}),
    "keys that differ in case": (b'{"a":1,"A":2}', {"a": 1, "A": 2}),
    "one key in two objects": (b'{"a":{"a":{"a":1}},"b":{"a":1}}', {"a": {"a": {"a": 1}}, "b": {"a": 1}}),
    "16 deep": (nested(16), json.loads(nested(16))),
    "16 objects deep": (nested_objects(16), json.loads(nested_objects(16))),
    "64 KB": (sized(KB_64), {"x": "a" * (KB_64 - 8)}),
}


@for_each(("body", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_plain_object_is_parsed(body: bytes, value: dict[str, Any]) -> None:
    assert parse_object(body) == value


@for_each(("body", "beginning"), REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused_with_a_short_message(body: bytes, beginning: str) -> None:
    with pytest.raises(BadBody) as refused:
        parse_object(body)
    assert refused.value.message.startswith(beginning)
    assert len(refused.value.message) <= 200
    assert (refused.value.status, refused.value.code) == (400, "invalid_json")


@pytest.mark.parametrize("size", [KB_64 + 1, 100_000, 1_000_000])
def test_body_over_64_kb_is_too_large(size: int) -> None:
    with pytest.raises(BodyTooLarge) as refused:
        parse_object(sized(size))
    assert (refused.value.status, refused.value.code) == (413, "body_too_large")


def test_size_is_counted_in_bytes() -> None:
    body = ('{"x":"' + "é" * ((KB_64 - 8) // 2) + '"}').encode()
    assert len(body) == KB_64
    assert parse_object(body)
    with pytest.raises(BodyTooLarge):
        parse_object(body + b" ")
