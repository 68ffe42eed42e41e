"""The browser in records: the short form of its user agent, and its language, if that is known.

The short form has one byte for each of the most frequent parts of user agents, and half the length. These bytes occur
in no UTF-8, so the long form of any text's short form is the text again. The language follows a tab, which no user
agent has.
"""

from __future__ import annotations

# Records of earlier releases contain these bytes: add parts, and change none.
_PARTS = {
    b"\xc0": b"Mozilla/5.0 (",
    b"\xc1": b" AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
    b"\xf5": b" AppleWebKit/605.1.15 (KHTML, like Gecko) Version/",
    b"\xf6": b"Windows NT 10.0; Win64; x64)",
    b"\xf7": b"Macintosh; Intel Mac OS X 10_15_7)",
    b"\xf8": b"iPhone; CPU iPhone OS ",
    b"\xf9": b" like Mac OS X)",
    b"\xfa": b" Safari/604.1",
    b"\xfb": b".0 Safari/537.36",
    b"\xfc": b".0 Mobile Safari/537.36",
    b"\xfd": b"Linux; Android ",
    b"\xfe": b" Mobile/15E",
    b"\xff": b" Gecko/20100101 Firefox/",
}

BEFORE_LANGUAGE = b"\t"


def short_agent(agent: bytes) -> bytes:
    for byte, part in _PARTS.items():
        agent = agent.replace(part, byte)
    return agent


def with_language(agent: bytes, language: bytes) -> bytes:
    """``agent`` as in a record of a browser with this language; empty: unknown."""
    return agent + BEFORE_LANGUAGE + language if language else agent


def agent_and_language(recorded: bytes) -> tuple[bytes, bytes]:
    """The long form of the user agent, and the language; empty if it is unknown."""
    agent, _, language = recorded.partition(BEFORE_LANGUAGE)
    return long_agent(agent), language


def long_agent(agent: bytes) -> bytes:
    for byte, part in _PARTS.items():
        agent = agent.replace(byte, part)
    return agent
