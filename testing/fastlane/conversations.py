"""Random conversations for `loops.converse`: known links and everything else, split and pipelined at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from operator import itemgetter

from testing.adversary.ambiguous import AMBIGUOUS, ODD
from testing.adversary.attempts import AGENT, Corpus, attempts
from testing.fastlane.known_links import LIMITED, OTHER_HOST, OWN_HOST, PLAIN
from testing.fastlane.transcripts import Conversation

_CORPUS = Corpus(PLAIN, "locked", PLAIN[:3], "no-key")
_ENDS = (b"\r\n\r\n", b"\r\n\r\n", b"\r\n\r\n", b"\n\n", b"\r\n\r\n\r\n", b"\r\n", b"\r\n \r\n\r\n")
_FIELDS = (
    *("Accept: */*", "Connection: close", "Connection: Keep-Alive", "Connection: upgrade", "DNT: 1"),
    *("Sec-GPC: 1", "Purpose: prefetch", "Referer: https://news.example/page", "Referer: \xff\xfe"),
    *("User-Agent: Googlebot/2.1 (+http://www.google.com/bot.html)", "User-Agent: " + "u" * 3_000),
    *("User-Agent: curl/8.5.0", "Content-Length: 0", "Content-Length: 3", "Host: 127.0.0.1", "Accept-Language: de"),
    *("X-Forwarded-For: 198.51.100.{0}", "X-Forwarded-For: 198.51.100.{0}, 10.1.1.1", "X-Forwarded-For: nobody"),
    *("X-Forwarded-For: [2001:db8::{0}]:80", "X-Forwarded-Proto: https", "X-Long: " + "y" * 900),
    *("X-Folded: a\r\n b", "X-Bad : 1", ": no name", "no colon", "X-Nul: \0", "Expect: 100-continue"),
)  # fmt: skip
_TARGETS = (
    "",
    "",
    "",
    "",
    "",
    "",
    "/",
    "?a=b",
    "?qr=1",
    "?src=qr&a",
    "%41",
    "+",
    "?{",
    "/x",
    "\x80",
    "?" + "q" * 9_000,
)
_METHODS = (*("GET",) * 12, "HEAD", "POST", "get", "OPTIONS", "GE")
_VERSIONS = (*(" HTTP/1.1",) * 12, " HTTP/1.0", " HTTP/1.1 ", "  HTTP/1.1", " HTTP/2.0", "")
_HOSTS = (*(OWN_HOST,) * 6, OTHER_HOST, OTHER_HOST, "127.0.0.1:8000", "unknown.example", "bad host", "")


def conversations(seed: int, count: int) -> Iterator[Conversation]:
    rng = random.Random(seed)
    raw = attempts(_CORPUS, seed, count)
    for number, attempt in enumerate(raw):
        yield _of_attempt(rng, attempt.pieces, attempt.control) if number % 3 == 0 else _made_up(rng)


def _of_attempt(rng: random.Random, pieces: tuple[bytes, ...], control: bytes | None) -> Conversation:
    steps = [[(0, piece)] for piece in (*pieces, *filter(None, (control,)))]
    return _varied(rng, ["192.0.2.1"], steps)


def _made_up(rng: random.Random) -> Conversation:
    peers = [
        rng.choice(
            (f"192.0.2.{number}", f"10.0.0.{number}", f"2001:db8::{number}", f"::ffff:192.0.2.{number}")
        )
        for number in range(rng.choice((1, 1, 2, 3, 8, 70)))
    ]
    streams = [_stream(rng, number) for number in range(len(peers))]
    steps: list[list[tuple[int, bytes]]] = []
    while any(streams):
        sent = []
        for number, pieces in enumerate(streams):
            if pieces and rng.random() < 0.7:
                sent.append((number, pieces.pop(0)))
        steps.append(sent)
    return _varied(rng, peers, steps)


def _varied(rng: random.Random, peers: list[str], steps: list[list[tuple[int, bytes]]]) -> Conversation:
    is_slow, is_ending, fails = rng.random() < 0.1, rng.random() < 0.05, rng.random() < 0.05
    guessers = [rng.choice(peers)] if rng.random() < 0.1 else []
    # The loops divide requests into batches differently. A batch without records does not notice a failing journal.
    fails = fails and not guessers and not _has_previews(steps)
    waits = rng.random() < 0.25
    return Conversation(
        peers,
        steps,
        is_slow=is_slow,
        is_ending=is_ending,
        fails=fails,
        guessers=guessers,
        waits=waits,
        is_accepted=not is_slow and rng.random() < 0.3,
    )


def _has_previews(steps: list[list[tuple[int, bytes]]]) -> bool:
    pieces = sorted((piece for step in steps for piece in step), key=itemgetter(0))
    return b"+ HTTP/" in b"".join(data for _, data in pieces)


def _stream(rng: random.Random, client: int) -> list[bytes]:
    """The pieces in which a client sends its requests."""
    usual = rng.random() < 0.5
    data = b"".join(
        _plain(rng, client) if usual or rng.random() < 0.6 else _odd(rng, client)
        for _ in range(rng.choice((1, 1, 2, 3, 8, 8, 63, 64, 65, 200)))
    )
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data)) + 1]
    cuts = sorted({rng.randrange(1, len(data) + 1) for _ in range(rng.choice((0, 0, 1, 2, 5)))} | {len(data)})
    pieces = [data[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
    return [*pieces, b""] if rng.random() < 0.2 else pieces


def _plain(rng: random.Random, client: int) -> bytes:
    method, code = rng.choice(("GET", "GET", "GET", "HEAD")), rng.choice(PLAIN)
    if rng.random() < 0.05:
        code = rng.choice(LIMITED)
    host = rng.choice((OWN_HOST, OTHER_HOST))
    lines = [f"{method} /{code} HTTP/1.1", f"Host: {host}", f"User-Agent: {AGENT.decode()}"]
    if rng.random() < 0.5:
        lines.append(f"X-Forwarded-For: 198.51.100.{client}")
    return "\r\n".join([*lines, "", ""]).encode()


def _odd(rng: random.Random, client: int) -> bytes:
    code = rng.choice((*PLAIN, *LIMITED, "nobody", "healthz", "api", ""))
    line = f"{rng.choice(_METHODS)} /{code}{rng.choice(_TARGETS)}{rng.choice(_VERSIONS)}"
    fields = [f"Host: {rng.choice(_HOSTS)}", *rng.sample(_FIELDS, rng.choice((0, 1, 1, 2, 3)))]
    rng.shuffle(fields)
    lines = [line, *(field.format(client) for field in fields)]
    if rng.random() < 0.1:
        name = rng.choice(sorted(AMBIGUOUS | ODD))
        extra, body = (AMBIGUOUS | ODD)[name]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n" + b"\r\n".join([*extra, b"", body])
    data = "\r\n".join(lines).encode("latin-1") + rng.choice(_ENDS)
    if rng.random() < 0.2:
        place = rng.randrange(len(data))
        data = data[:place] + rng.choice((b"", bytes([rng.randrange(256)]), b"\r\n")) + data[place + 1 :]
    return data
