"""JSON that parsers disagree about, by the classes of JSONTestSuite: accepted or refused, never a 5xx.

Each text is the value of an unknown field next to a valid one: valid JSON changes nothing, other text is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

# y_: parsers must accept it.
ACCEPTED: list[bytes] = [
    b"[]", b"[[]]", b'[[]   ]', b'[""]', b"[[],[[]]]", b"[1,null,null,null,2]", b'["a"]', b'[1\n]', b" [1]", b"[2] ",
    b"[null, 1, \"1\", {}]", b"[123e65]", b"[0e+1]", b"[0e1]", b"[ 4]", b"[-0]", b"[-0.0]", b"[20e1]", b"[-123]",
    b"[-1]", b"[1E22]", b"[1E-2]", b"[1E+2]", b"[123e45]", b"[123.456e78]", b"[1e-2]", b"[1e+2]", b"[123]",
    b"[123.456789]", b"[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]",
    b'{"asd":"sdf", "dfg":"fgh"}', b'{"asd":"sdf"}', b"{}", b'{"":0}', rb'{"foo\"bar":42}', b'{"min":-1.0e+28}',
    b'{"a":[]}', rb'{"title":"\u041f\u043e\u043b"}', b'{\n"a": "b"\n}', rb'["\u0060\u012a\u12AB"]',
    rb'["\uD801\udc37"]', rb'["\ud83d\ude39\ud83d\udc8d"]', rb'["\"\\\/\b\f\n\r\t"]', rb'["\\u0000"]', rb'["\\n"]',
    rb'["\u0012"]', rb'["\uFFFF"]', '["a\u2028\u2029b"]'.encode(), rb'["\uDBFF\uDFFF"]', rb'["\uDBFF\uDFFE"]',
    b'["asd "]', b'" "', rb'["\u0821"]', '["\U0010ffff"]'.encode(), '["\U0001bfff"]'.encode(), '["\uffff"]'.encode(),
    rb'["new\u00A0line"]', rb'["\u005C"]', rb'["\u0022"]', rb'["\u200B"]', rb'["\u2064"]', rb'["\uFDD0"]',
    '["€𝄞"]'.encode(), b'["a\x7fa"]', b"false", b"42", b"-0.1", b"null", b'"asd"', b"true", b'""', b"[true]",
    b"[\n]",
]  # fmt: skip

# n_: parsers must refuse it.
REFUSED: list[bytes] = [
    b"[1 true]", b"[a\xe5]", b'["": 1]', b'[""],', b"[,1]", b"[1,,2]", b'["x",,]', b'["x"]]', b'["",]', b'["x"',
    b"[x", b"[3[4]]", b"[\xff]", b"[1:2]", b"[,]", b"[-]", b"[   , \"\"]", b'["a",\n4\n,1,', b"[1,]", b"[1,,]",
    b'["\x0ba"\\f]', b"[*]", b'[""', b"[1,", b"[1,\n1\n,1", b"[{}", b"[fals]", b"[nul]", b"[tru]", b"[-01]",
    b"[-1.0.]",
    b"[-2.]", b"[-NaN]", b"[.-1]", b"[.2e-3]", b"[0.1.2]", b"[0.3e+]", b"[0.3e]", b"[0.e1]", b"[0E+]", b"[0E]",
    b"[0e+]", b"[0e]", b"[1.0e+]", b"[1.0e-]", b"[1.0e]", b"[1 000.0]", b"[1eE2]", b"[2.e+3]", b"[2.e-3]", b"[2.e3]",
    b"[9.e+]", b"[Inf]", b"[NaN]", "[\uff11]".encode(), b"[1+2]", b"[0x1]", b"[0x42]", b"[Infinity]", b"[0e+-1]",
    b"[-123.123foo]", b"[123\xe5]", b"[1e1\xe5]", b"[0\xe5]", b"[-Infinity]", b"[-foo]", b"[- 1]", b"[-012]",
    b"[-.123]", b"[-1x]", b"[1ea]", b"[1e\xe5]", b"[1.]", b"[.123]", b"[1.2a-3]", b"[1.8011670033376514H-308]",
    b"[012]", b"[++1234]", b"[+1]", b"[+Inf]", b"[-2147483648L]", b'["x", truth]', b'{"x", null}', b'{"x"::"b"}',
    b"{\xf0\x9f\x87\xa8\xf0\x9f\x87\xad}", b'{"a":"a" 123}', b"{key: 'value'}", b'{"\xb9":"0",}', b'{"a" b}',
    b'{:"b"}', b'{"a" "b"}', b'{"a":', b'{"a"', b"{1:1}", b"{9999E9999:1}", b"{null:null,null:null}", b'{"id":0,,,,,}',
    b"{'a':0}", b'{"id":0,}', b'{"a":"b"}/**/', b'{"a":"b"}/**//', b'{"a":"b"}//', b'{"a":"b"}/',
    b'{"a":"b",,"c":"d"}',
    b'{a: "b"}', b'{"a":"a', b'{ "foo" : "bar", "a" }', b'{"a":"b"}#', rb'["\uD800\u"]', rb'["\uD800\u1"]',
    rb'["\uD800\u1x"]', b"[\xc3\xa9]", b'["\\\x00"]', rb'["\\\"]', b'["\\\t"]', '["\\\U0001f300"]'.encode(), rb'["\"]',
    rb'["\u00A"]', rb'["\uD834\uDd"]', rb'["\uD800\uD800\x"]', b'["\\u\xe5"]', rb'["\a"]', rb'["\uqqqq"]',
    b'["\\\xe5"]', rb"[\u0020\"asd\"]", rb"[\n]", b'"', b"['single quote']", b"abc", b'["\\', b'["a\x00a"]',
    b'["new\nline"]', b'["\t"]', rb'"\UA66D"', b'""x', b"[\xe2\x81\xa0]", b"<.>", b"[<null>]", b"[1]x", b"1]",
    b'["asd]', "\u00e5".encode(), b"[True]", b'{"x": true,', b"[][]", b"]", b'\xef\xbb{}', b"\xe5", b"[", b"2@",
    b"{}}", b'{"":', b'{"a":/*comment*/"b"}', b'{"a": true} "x"', b"['", b"[,", b"[{", b'["a', b'["a"', b"{[", b"{,",
    b'{"a', b"{'a'", b"*", b"[1", b"[false, nul", b"[true, fals", b"[false, tru", b"\xef\xbb\xbf1", b"\x0c[]",
    b"[\x0c]", b"[\xe2\x80\x83]", b"undefined", b"nan", b"-", b"+", b".", b"e", b"\\u005b\\u005d", b"", b"1 2",
]  # fmt: skip

# i_: parsers may differ; here, every ambiguous text is refused.
UNDECIDED: dict[bytes, int] = {
    b"[123.456e-789]": 201,
    b"[-123123123123123123123123123123]": 201,
    b"[100000000000000000000]": 201,
    b"[-237462374673276894279832749832423479823246327846]": 201,
    b"[0.4e00669999999999999999999999999999999999999999999969999999006]": 400,
    b"[-1e+9999]": 400,
    b"[1.5e+9999]": 400,
    b"[123123e100000]": 400,
    b"[-123123e100000]": 400,
    rb'{"\uDFAA":0}': 400,
    rb'["\uDADA"]': 400,
    rb'["\uD888\u1234"]': 400,
    rb'["\uD800\n"]': 400,
    rb'["\uDd1ea"]': 400,
    rb'["\uD800\uD800\n"]': 400,
    rb'["\ud800"]': 400,
    rb'["\ud800abc"]': 400,
    rb'["\uDd1e\uD834"]': 400,
    rb'["\uDFAA"]': 400,
    b'["\xff\xfe"]': 400,
    b'["\xe6\x97\xa5\xd1\x88\xfa"]': 400,
    b'["\xf4\xbf\xbf\xbf"]': 400,
    b'["\xe9"]': 400,
    b'["\x81"]': 400,
    b'["\xe0\xff"]': 400,
    b'["\xc0\xaf"]': 400,
    b'["\xfc\x83\xbf\xbf\xbf\xbf"]': 400,
    b'["\xfc\x80\x80\x80\x80\x80"]': 400,
    b'["\xed\xa0\x80"]': 400,
    '["é"]'.encode("utf-16-le"): 400,
    '["é"]'.encode("utf-16-be"): 400,
    '["é"]'.encode("utf-16"): 400,
    '["é"]'.encode("utf-32"): 400,
    b"\xef\xbb\xbf{}": 400,
    rb'["\u0000"]': 400,
    rb'{"\u0000":1}': 400,
    b'{"a":1,"a":1}': 400,
    b'{"a":1,"a":2}': 400,
    rb'{"a":1,"\u0061":2}': 400,
    b"[" * 15 + b"]" * 15: 201,
    b"[" * 16 + b"]" * 16: 400,
    b"[" * 500 + b"]" * 500: 400,
    b"[" * 20_000 + b"]" * 20_000: 400,
    b"[" * 60_000: 400,
    b'[{"":' * 10_000: 400,
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000: 400,
    b"[" * 100_000: 413,
    b"[" * 100_000 + b"]" * 100_000: 413,
    b'{"a":' * 100_000: 413,
    b"9" * 4_000: 201,
    b"9" * 5_000: 400,
    b"1" + b"0" * 60_000: 400,
    b"0." + b"3" * 60_000: 201,
    b'"' + b"a" * 60_000 + b'"': 201,
    b'"' + b"a" * 70_000 + b'"': 413,
    b" " * 60_000 + b"1": 201,
}

CASES = {**dict.fromkeys(ACCEPTED, 201), **dict.fromkeys(REFUSED, 400), **UNDECIDED}
CODES = {400: "invalid_json", 413: "body_too_large"}


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 300


def test_every_text_is_accepted_or_refused_in_the_envelope(
    api: APIClient, make_link: Callable[..., dict[str, Any]]
) -> None:
    paths = {
        "POST": "/api/urls",
        "PUT": f"/api/urls/{make_link()['_id']}",
    }
    fields = {"POST": b'"originalUrl":"https://example.com/"', "PUT": b'"title":"new"'}

    def send(method: str, text: bytes) -> tuple[int, bool, str | None]:
        body = b'{%s,"x":%s}' % (fields[method], text)
        response = api.generic(method, paths[method], body, "application/json")
        content = response.json()
        return response.status_code, content["success"], content.get("code")

    def expected(method: str, status: int) -> tuple[int, bool, str | None]:
        return (
            (201 if method == "POST" else 200, True, None)
            if status == 201
            else (status, False, CODES[status])
        )

    wrong = {
        (method, text[:60]): content
        for method in paths
        for text, status in CASES.items()
        if (content := send(method, text)) != expected(method, status)
    }
    assert wrong == {}


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_text_that_is_not_an_object_is_refused_in_the_envelope(
    api: APIClient, make_link: Callable[..., dict[str, Any]], method: str
) -> None:
    """The text is the whole body; objects contain only the names of a link's fields."""
    path = "/api/urls" if method == "POST" else f"/api/urls/{make_link()['_id']}"
    wrong = {}
    for text in CASES:
        response = api.generic(method, path, text, "application/json")
        outcome = response.status_code, response.json()["success"], response.json().get("code")
        # Without a body all required fields are missing; a change has none.
        allowed = {(400, False, "invalid_json"), (413, False, "body_too_large")}
        if not text or text.lstrip().startswith(b"{"):
            allowed |= {(400, False, "validation_error")} if method == "POST" else {(200, True, None)}
        if outcome not in allowed:
            wrong[text[:60]] = outcome
    assert wrong == {}


@pytest.mark.parametrize("path", ["/api/urls/bulk", "/api/urls/import", "/api/qr-codes"])
def test_large_bodies_have_a_depth_limit_too(api: APIClient, path: str) -> None:
    for depth in (17, 1_000, 100_000):
        for text in (b"[" * depth, b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
            response = api.generic("POST", path, b'{"urls":%s}' % text, "application/json")
            # Only the body limit of QR codes is smaller than the deepest of these texts.
            expected = 413 if path == "/api/qr-codes" and len(text) > 202_000 else 400
            assert (response.status_code, response.json()["code"]) == (expected, CODES[expected]), text[:9]
