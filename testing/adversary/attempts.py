"""Generates malformed raw requests by random mutation of valid ones, reproducibly from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from testing.adversary.ambiguous import AMBIGUOUS, ODD
from testing.adversary.mutations import mutate

AGENT = b"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


class Attempt(NamedTuple):
    """The client sends ``pieces`` in order, and then ``control``, a request for a link of its own.

    ``waits``: it sends ``control`` after a first response. Without ``control`` it shuts down its side at the end.
    """

    number: int
    name: str
    pieces: tuple[bytes, ...]
    control: bytes | None
    waits: bool


class Corpus(NamedTuple):
    """Codes of links: ``plain`` and ``password`` for mutated requests, ``controls`` for control requests."""

    plain: Sequence[str]
    password: str
    controls: Sequence[str]
    api_key: str


def attempts(corpus: Corpus, seed: int, count: int) -> Iterator[Attempt]:
    """Yield each ambiguous request in two variants, then random mutations of valid requests."""
    rng = random.Random(seed)
    valid = _valid_requests(corpus)
    known = list(_variants(corpus))
    for number in range(count):
        if number < len(known):
            name, data = known[number]
        else:
            name, data = _mutated(rng, valid, [request for _, request in known])
        code = corpus.controls[number % len(corpus.controls)]
        control = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: %s\r\n" % (code.encode(), AGENT)
        control += b"Connection: close\r\n\r\n" if rng.random() < 0.5 else b"\r\n"
        without = number >= len(known) and rng.random() < 0.15
        if without and rng.random() < 0.7:
            data = data[: rng.randrange(len(data)) + 1]
        yield Attempt(number, name, _split(rng, data), None if without else control, waits=rng.random() < 0.5)


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


def _valid_requests(corpus: Corpus) -> list[bytes]:
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
    requests = [
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
        # Not the list of links, which changes with each created link.
        (b"GET /api/domains/nothing HTTP/1.1", api, b""),
        (b"GET /api/domains HTTP/1.1", api, b""),
        (b"DELETE /api/urls/nothing HTTP/1.1", api, b""),
        (b"POST /api/urls HTTP/1.1", [*api, typed, length + b"%d" % len(body)], body),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Transfer-Encoding: chunked"], chunks),
        (b"POST /api/urls HTTP/1.1", [*api, typed, length + b"2"], b"{}"),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Transfer-Encoding: chunked"], b"2\r\n{}\r\n0\r\n\r\n"),
        (b"POST /api/urls HTTP/1.1", [*api, typed, b"Expect: 100-continue", length + b"2"], b"{}"),
    ]
    return [b"\r\n".join([first, *lines, b"", content]) for first, lines, content in requests]


def _mutated(rng: random.Random, valid: list[bytes], ambiguous: list[bytes]) -> tuple[str, bytes]:
    names, data = mutate(rng, rng.choice(ambiguous if rng.random() < 0.2 else valid))
    if rng.random() < 0.2:
        data += rng.choice(valid)
        names.append("pipelined")
    return ", ".join(names) or "unchanged", data


def _split(rng: random.Random, data: bytes) -> tuple[bytes, ...]:
    cuts = {rng.randrange(len(data)) for _ in range(rng.choice((0, 0, 0, 1, 2, 4)))}
    bounds = [0, *sorted(cuts - {0}), len(data)]
    return tuple(data[start:end] for start, end in pairwise(bounds))
