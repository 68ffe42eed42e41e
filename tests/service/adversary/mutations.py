"""Raw requests as no client would send them, out of a few that every client sends: made up by chance, and the same
again from the same seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.service.adversary.ambiguous import AMBIGUOUS, ODD

AGENT = b"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
# What parsers stumble over.
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


class Attempt(NamedTuple):
    """``pieces`` are sent one after the other. The last thing that is sent is a request for ``control``, a link of
    this attempt's own, at once or (``waits``) when something has been answered; without one, the client says after
    the pieces that it sends no more.
    """

    number: int
    name: str
    pieces: tuple[bytes, ...]
    control: bytes | None
    waits: bool


class Corpus(NamedTuple):
    """Codes of links: to be asked for in mutated requests, also one that asks for a password, and in controls."""

    plain: Sequence[str]
    password: str
    controls: Sequence[str]
    api_key: str


def attempts(corpus: Corpus, seed: int, count: int) -> Iterator[Attempt]:
    """First, each of the ambiguous requests in two ways; then what chance makes of ordinary ones."""
    chance = random.Random(seed)
    ordinary = _ordinary(corpus)
    known = list(_variants(corpus))
    for number in range(count):
        if number < len(known):
            name, data = known[number]
        else:
            name, data = _mutated(chance, ordinary, [each for _, each in known])
        code = corpus.controls[number % len(corpus.controls)]
        control = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\n" % (code.encode(), AGENT)
        control += b"Connection: close\r\n\r\n" if chance.random() < 0.5 else b"\r\n"
        without = number >= len(known) and chance.random() < 0.15
        if without and chance.random() < 0.7:
            data = data[: chance.randrange(len(data)) + 1]
        yield Attempt(
            number, name, _split(chance, data), None if without else control, waits=chance.random() < 0.5
        )


def _variants(corpus: Corpus) -> Iterator[tuple[str, bytes]]:
    for name, (lines, body) in (AMBIGUOUS | ODD).items():
        for first in (b"GET /%s HTTP/1.1" % corpus.plain[0].encode(), b"POST /api/urls HTTP/1.1"):
            head = [
                first,
                b"Host: 127.0.0.1",
                b"User-Agent: " + AGENT,
                b"Content-Type: application/json",
                *lines,
            ]
            yield name, b"\r\n".join([*head, b"", body])


def _ordinary(corpus: Corpus) -> list[bytes]:
    browser = [
        b"Host: 127.0.0.1",
        b"User-Agent: " + AGENT,
        b"Accept: text/html,*/*;q=0.8",
        b"Connection: keep-alive",
    ]
    api = [b"Host: 127.0.0.1", b"X-API-Key: " + corpus.api_key.encode()]
    body = b'{"originalUrl": "https://example.com/made-up", "title": "Made up"}'
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:20], body[20:], b""))
    typed, length = b"Content-Type: application/json", b"Content-Length: "
    form = b"password=wrong"
    plain = [code.encode() for code in corpus.plain]
    made = [
        *((b"GET /%s HTTP/1.1" % code, browser, b"") for code in plain),
        *((b"GET /%s?qr=1&a=b HTTP/1.1" % code, browser, b"") for code in plain),
        *((b"HEAD /%s HTTP/1.1" % code, browser, b"") for code in plain),
        (b"GET /%s HTTP/1.0" % plain[0], browser[:2], b""),
        (b"GET http://127.0.0.1/%s HTTP/1.1" % plain[0], browser, b""),
        (b"GET /%s+ HTTP/1.1" % plain[0], browser, b""),
        (b"GET /%s HTTP/1.1" % corpus.password.encode(), browser, b""),
        (b"GET /nobody-knows HTTP/1.1", browser, b""),
        (b"GET /healthz HTTP/1.1", browser, b""),
        (b"OPTIONS * HTTP/1.1", browser, b""),
        (b"POST /%s HTTP/1.1" % plain[0], [*browser, length + b"%d" % len(form)], form),
        # Not the list of links: it is another one whenever one was created.
        (b"GET /api/domains/nothing HTTP/1.1", api, b""),
        (b"GET /api/domains HTTP/1.1", api, b""),
        (b"DELETE /api/urls/nothing HTTP/1.1", api, b""),
        (b"POST /api/urls HTTP/1.1", [*api, typed, length + b"%d" % len(body)], body),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Transfer-Encoding: chunked"], chunks),
        (b"POST /api/urls HTTP/1.1", [*api, typed, length + b"2"], b"{}"),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n"),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Expect: 100-continue", length + b"2"], b"{}"),
    ]
    return [b"\r\n".join([first, *lines, b"", content]) for first, lines, content in made]


def _mutated(chance: random.Random, ordinary: list[bytes], odd: list[bytes]) -> tuple[str, bytes]:
    data = chance.choice(odd if chance.random() < 0.2 else ordinary)
    done = []
    for _ in range(chance.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        mutate = chance.choice(_MUTATIONS)
        data = mutate(chance, data) or b"\r\n"
        done.append(mutate.__name__[1:])
    if chance.random() < 0.2:
        data += chance.choice(ordinary)
        done.append("pipelined")
    return ", ".join(done) or "unchanged", data


def _split(chance: random.Random, data: bytes) -> tuple[bytes, ...]:
    cuts = {chance.randrange(len(data)) for _ in range(chance.choice((0, 0, 0, 1, 2, 4)))}
    bounds = [0, *sorted(cuts - {0}), len(data)]
    return tuple(data[start:end] for start, end in pairwise(bounds))


def _place(chance: random.Random, data: bytes) -> int:
    """Oftener in the request line and the head than in a long body."""
    return min(chance.randrange(len(data) + 1), chance.randrange(len(data) + 1))


def _with_a_byte(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + chance.choice(_BYTES) + data[at:]


def _with_another_byte(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + chance.choice(_BYTES) + data[at + 1 :]


def _with_a_bit_turned(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _without_a_part(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + data[at + chance.choice((1, 1, 2, 4, 20)) :]


def _with_a_part_twice(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[: at + chance.choice((1, 2, 10, 50))] + data[at:]


def _with_a_word(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + chance.choice(_WORDS) + data[at:]


def _with_a_line(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\r\n")
    lines.insert(chance.randrange(1, max(2, lines.index(b"") if b"" in lines else 2)), chance.choice(_LINES))
    return b"\r\n".join(lines)


def _with_lines_otherwise(chance: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\r\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    if chance.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = lines[second]
    return b"\r\n".join(lines)


def _with_another_line_end(chance: random.Random, data: bytes) -> bytes:
    parts = data.split(b"\r\n")
    at = chance.randrange(len(parts))
    end = chance.choice((b"\n", b"\r", b"\r\r\n", b"\n\r", b"", b"\r\n\r\n", b"\x85", b"\r\n\x00"))
    return b"\r\n".join(parts[:at]) + end + b"\r\n".join(parts[at:])


def _with_another_number(chance: random.Random, data: bytes) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    found = chance.choice(numbers)
    other = chance.choice(
        (b"0", b"1", b"-1", b"%d" % (int(found[0][:9]) + 1), b"99999", b"0" + found[0], b"1e1", b"")
    )
    return data[: found.start()] + other + data[found.end() :]


def _in_other_letters(chance: random.Random, data: bytes) -> bytes:
    at = _place(chance, data)
    return data[:at] + data[at : at + 12].swapcase() + data[at + 12 :]


_MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    _with_a_byte,
    _with_another_byte,
    _with_a_bit_turned,
    _without_a_part,
    _with_a_part_twice,
    _with_a_word,
    _with_a_line,
    _with_a_line,
    _with_lines_otherwise,
    _with_another_line_end,
    _with_another_number,
    _in_other_letters,
]
