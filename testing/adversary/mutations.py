"""Random mutations of raw requests, with the bytes, words and lines that are difficult for parsers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from testing.adversary.ambiguous import AMBIGUOUS, ODD

_BYTES = [bytes([number]) for number in b"\0\t\n\v\f\r \"#%&'(),/:;<=?@[\\]_{}\x7f\x80\xa0\xff019AZaz"]
_WORDS = [
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\n\n",
        b"\r\n ",
        b"\r\n\t",
        b"0\r\n\r\n",
        b"5\r\nabcde\r\n",
        b"ffffffff\r\n",
    ),
    *(b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"http/1.1", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    *(
        b"GET ",
        b"HEAD ",
        b"POST ",
        b"OPTIONS ",
        b"TRACE ",
        b"CONNECT ",
        b"get ",
        b"* ",
        b"http://127.0.0.1",
        b"//",
        b"/../",
    ),
    *(b"%00", b"%0d%0a", b"%2e%2e%2f", b"%", b"?qr=1", b"?", b"#", b";", b"\xef\xbb\xbf", b"\xc3\xa4"),
]
_LINES = [
    *(line for lines, _ in (AMBIGUOUS | ODD).values() for line in lines),
    *(
        b"Connection: close",
        b"Connection: keep-alive",
        b"Connection: keep-alive, close",
        b"Proxy-Connection: close",
    ),
    *(
        b"Connection: Close",
        b"Keep-Alive: timeout=1",
        b"Host: 127.0.0.1",
        b"Host:",
        b"Host: localhost",
        b"host: [::1]",
    ),
    *(
        b"Content-Length: 0",
        b"Content-Length: 3",
        b"Content-Length: 100",
        b"Content-Type: text/plain",
        b"DNT: 1",
    ),
    *(
        b"Sec-GPC: 1",
        b"Sec-Purpose: prefetch",
        b"Referer: https://example.org/",
        b"User-Agent: curl/8",
        b"User-Agent:",
    ),
    *(
        b"X-Forwarded-For: 192.0.2.1",
        b"X-Forwarded-Proto: https",
        b"X-Forwarded-Ssl: on",
        b"Forwarded: for=192.0.2.1",
    ),
    *(
        b"X-HTTP-Method-Override: DELETE",
        b"Accept: application/json",
        b"Range: bytes=0-0",
        b"Cookie: a=b",
        b"A:b",
        b"A :b",
    ),
    *(
        b"X-Long: " + b"x" * 4090,
        b"X-Longer: " + b"x" * 8180,
        b"\r\n".join(b"X-%d: y" % number for number in range(58)),
    ),
    b"\r\n".join(b"X-%d: y" % number for number in range(99)),
]


def mutate(rng: random.Random, data: bytes) -> tuple[list[str], bytes]:
    """Apply up to five mutations. Also return their names."""
    names = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        mutation = rng.choice(_MUTATIONS)
        data = mutation(rng, data) or b"\r\n"
        names.append(mutation.__name__[1:])
    return names, data


def _position(rng: random.Random, data: bytes) -> int:
    """Choose a position, more often in the head than in a long body."""
    return min(rng.randrange(len(data) + 1), rng.randrange(len(data) + 1))


def _insert_byte(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[:at] + rng.choice(_BYTES) + data[at:]


def _replace_byte(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[:at] + rng.choice(_BYTES) + data[at + 1 :]


def _flip_bit(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _delete_part(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[:at] + data[at + rng.choice((1, 1, 2, 4, 20)) :]


def _repeat_part(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[: at + rng.choice((1, 2, 10, 50))] + data[at:]


def _insert_word(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[:at] + rng.choice(_WORDS) + data[at:]


def _insert_line(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\r\n")
    lines.insert(rng.randrange(1, max(2, lines.index(b"") if b"" in lines else 2)), rng.choice(_LINES))
    return b"\r\n".join(lines)


def _rearrange_lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\r\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = lines[second]
    return b"\r\n".join(lines)


def _change_line_end(rng: random.Random, data: bytes) -> bytes:
    parts = data.split(b"\r\n")
    at = rng.randrange(len(parts))
    end = rng.choice((b"\n", b"\r", b"\r\r\n", b"\n\r", b"", b"\r\n\r\n", b"\x85", b"\r\n\x00"))
    return b"\r\n".join(parts[:at]) + end + b"\r\n".join(parts[at:])


def _change_number(rng: random.Random, data: bytes) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    number = rng.choice(numbers)
    other = rng.choice(
        (b"0", b"1", b"-1", b"%d" % (int(number[0][:9]) + 1), b"99999", b"0" + number[0], b"1e1", b"")
    )
    return data[: number.start()] + other + data[number.end() :]


def _swap_case(rng: random.Random, data: bytes) -> bytes:
    at = _position(rng, data)
    return data[:at] + data[at : at + 12].swapcase() + data[at + 12 :]


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    _insert_byte,
    _replace_byte,
    _flip_bit,
    _delete_part,
    _repeat_part,
    _insert_word,
    _insert_line,
    _insert_line,
    _rearrange_lines,
    _change_line_end,
    _change_number,
    _swap_case,
]
