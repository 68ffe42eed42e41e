"""Bodies of requests."""

import gzip

KB_64 = 65_536


def nested(depth: int) -> bytes:
    """An object whose deepest array is at ``depth``; the object itself is at 1."""
    return b'{"x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def nested_objects(depth: int) -> bytes:
    return b'{"x":' * depth + b"1" + b"}" * depth


def sized(size: int) -> bytes:
    return b'{"x":"' + b"a" * (size - 8) + b'"}'


# The body and the beginning of the message.
NOT_JSON = "The request body is not valid JSON: "
NO_OBJECT = "The request body must be a JSON object."
NOT_UTF8 = "The request body is not UTF-8."
TOO_DEEP = "The request body is nested deeper than 16 levels."
HOLDS_NUL = "The request body contains a NUL character."
HOLDS_SURROGATE = "The request body contains a lone surrogate."
REFUSED: dict[str, tuple[bytes, str]] = {
    # Not an object
    "text": (b'"str"', NO_OBJECT),
    "null": (b"null", NO_OBJECT),
    "array": (b"[]", NO_OBJECT),
    "array of an object": (b"[{}]", NO_OBJECT),
    "number": (b"1", NO_OBJECT),
    "zero": (b"0", NO_OBJECT),
    "true": (b"true", NO_OBJECT),
    "false": (b"false", NO_OBJECT),
    # Not JSON
    "empty": (b"", NOT_JSON),
    "white space only": (b" \n\t", NOT_JSON),
    "cut off": (b'{"x":', NOT_JSON),
    "cut off in a string": (b'{"x":"', NOT_JSON),
    "cut off after a backslash": (b'{"x":"\\', NOT_JSON),
    "single quotes": (b"{'x':1}", NOT_JSON),
    "bare key": (b"{x:1}", NOT_JSON),
    "number as key": (b"{1:1}", NOT_JSON),
    "comma at the end": (b'{"x":1,}', NOT_JSON),
    "comma at the beginning": (b'{,"x":1}', NOT_JSON),
    "comma in an array": (b'{"x":[1,]}', NOT_JSON),
    "no colon": (b'{"x" 1}', NOT_JSON),
    "comment": (b'{"x":1/* one */}', NOT_JSON),
    "line comment": (b'{"x":1}//', NOT_JSON),
    "two objects": (b"{}{}", NOT_JSON),
    "object and a word": (b"{} x", NOT_JSON),
    "object and a bracket": (b"{}}", NOT_JSON),
    "object and a NUL": (b"{}\0", NOT_JSON),
    "leading zero": (b'{"x":01}', NOT_JSON),
    "leading plus": (b'{"x":+1}', NOT_JSON),
    "leading point": (b'{"x":.5}', NOT_JSON),
    "trailing point": (b'{"x":5.}', NOT_JSON),
    "hexadecimal": (b'{"x":0x10}', NOT_JSON),
    "underscore": (b'{"x":1_000}', NOT_JSON),
    "Arabic digits": ('{"x":١٢}'.encode(), NOT_JSON),
    "True": (b'{"x":True}', NOT_JSON),
    "undefined": (b'{"x":undefined}', NOT_JSON),
    "newline in a string": (b'{"x":"a\nb"}', NOT_JSON),
    "tab in a string": (b'{"x":"a\tb"}', NOT_JSON),
    "control character in a key": (b'{"a\x01":1}', NOT_JSON),
    "unknown escape": (rb'{"x":"\a"}', NOT_JSON),
    "hexadecimal escape": (rb'{"x":"\x41"}', NOT_JSON),
    "short escape": (rb'{"x":"\u12"}', NOT_JSON),
    "no-break space around": ("\u00a0{}".encode(), NOT_JSON),
    "vertical tab around": (b"\v{}", NOT_JSON),
    "form": (b"originalUrl=https%3A%2F%2Fexample.com", NOT_JSON),
    # Invalid numbers
    "NaN": (b'{"x":NaN}', NOT_JSON + "NaN is not a JSON number"),
    "Infinity": (b'{"x":Infinity}', NOT_JSON + "Infinity is not a JSON number"),
    "-Infinity": (b'{"x":[-Infinity]}', NOT_JSON + "-Infinity is not a JSON number"),
    "1e400": (b'{"x":1e400}', NOT_JSON + "a number is out of range"),
    "-1e400": (b'{"x":{"y":-1.5e400}}', NOT_JSON + "a number is out of range"),
    "integer of 5,000 digits": (b'{"x":' + b"9" * 5000 + b"}", NOT_JSON),
    # Duplicate keys
    "duplicate key": (b'{"x":1,"x":1}', NOT_JSON + "duplicate key in an object"),
    "duplicate key below": (b'{"x":[{"y":{"z":1,"z":2}}]}', NOT_JSON + "duplicate key in an object"),
    "duplicate key escaped": (rb'{"x":1,"\u0078":2}', NOT_JSON + "duplicate key in an object"),
    # Characters
    "NUL escaped": (rb'{"x":"a\u0000b"}', HOLDS_NUL),
    "NUL escaped in a key": (rb'{"a\u0000":1}', HOLDS_NUL),
    "NUL escaped far below": (rb'{"x":[[{"y":{"\u0000":1}}]]}', HOLDS_NUL),
    "NUL raw": (b'{"x":"a\0b"}', NOT_JSON),
    "NUL raw in a key": (b'{"a\0":1}', NOT_JSON),
    "high surrogate": (rb'{"x":"\ud800"}', HOLDS_SURROGATE),
    "low surrogate": (rb'{"x":"\udfff"}', HOLDS_SURROGATE),
    "surrogates the wrong way round": (rb'{"x":"\ude00\ud83d"}', HOLDS_SURROGATE),
    "surrogate in a key": (rb'{"\udc00":1}', HOLDS_SURROGATE),
    "surrogate in a list": (rb'{"x":["ok",["\uDBFF"]]}', HOLDS_SURROGATE),
    "surrogate in a key below": (rb'{"x":[{"\ud83d!":1}]}', HOLDS_SURROGATE),
    # Encodings
    "byte order mark": (b"\xef\xbb\xbf{}", NOT_JSON),
    "UTF-16": ("{}".encode("utf-16"), NOT_UTF8),
    "UTF-16 LE": ("{}".encode("utf-16-le"), NOT_JSON),
    "UTF-16 BE": ("{}".encode("utf-16-be"), NOT_JSON),
    "UTF-32": ("{}".encode("utf-32"), NOT_UTF8),
    "UTF-32 BE": ("{}".encode("utf-32-be"), NOT_JSON),
    "Latin-1": ('{"x":"é"}'.encode("latin-1"), NOT_UTF8),
    "surrogate raw": (b'{"x":"\xed\xa0\x80"}', NOT_UTF8),
    "overlong slash": (b'{"x":"\xc0\xaf"}', NOT_UTF8),
    "overlong NUL": (b'{"x":"\xc0\x80"}', NOT_UTF8),
    "beyond U+10FFFF": (b'{"x":"\xf4\x90\x80\x80"}', NOT_UTF8),
    "continuation byte alone": (b'{"x":"\x80"}', NOT_UTF8),
    "sequence cut off": (b'{"x":"\xe2\x82"}', NOT_UTF8),
    "0xFF": (b'\xff{"x":1}', NOT_UTF8),
    "gzip": (gzip.compress(b"{}"), NOT_UTF8),
    # Depth
    "17 deep": (nested(17), TOO_DEEP),
    "17 objects deep": (nested_objects(17), TOO_DEEP),
    "100 deep": (nested(100), TOO_DEEP),
    "1,000 deep": (nested(1_000), TOO_DEEP),
    "20,000 deep": (nested(20_000), TOO_DEEP),
    "30,000 deep": (nested(30_000), TOO_DEEP),
    "10,000 objects deep": (nested_objects(10_000), TOO_DEEP),
    "array 17 deep beside an array": (b'{"w":[],"x":' + nested(16)[5:-1].join([b"[", b"]"]) + b"}", TOO_DEEP),
}
