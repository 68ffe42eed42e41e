"""Markdown of the documentation as HTML that is safe to show: CommonMark with tables, in which HTML is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


class Heading(NamedTuple):
    level: int
    anchor: str
    text: str


class Passage(NamedTuple):
    """A paragraph, an item of a list, a cell of a table or a block of code, for the search."""

    heading: Heading
    text: str


class Rendered(NamedTuple):
    html: SafeString
    headings: list[Heading]
    passages: list[Passage]


def render(
    text: str,
    link: Callable[[str], str | None] = lambda address: address,
    link_code: Callable[[str], str | None] = lambda code: None,
) -> Rendered:
    """``link`` returns the address of a link as it works on the page, or None: its text alone remains. ``link_code``
    returns where a piece of code leads, or None.
    """
    tokens = _PARSER.parse(text)
    headings: list[Heading] = []
    passages: list[Passage] = []
    heading = Heading(1, "", "")
    for at, token in enumerate(tokens):
        if token.type in ("fence", "code_block"):
            # Scrolled by keyboard. The parser writes attributes of a fence on its code.
            token.type = "code_block"
            token.attrs = {"tabindex": "0"}
            passages.append(Passage(heading, token.content))
        elif token.type == "inline":
            words = _plain(token)
            if tokens[at - 1].type == "heading_open":
                heading = Heading(int(tokens[at - 1].tag[1]), _anchor(words, headings), words)
                headings.append(heading)
                tokens[at - 1].attrSet("id", heading.anchor)
            else:
                passages.append(Passage(heading, words))
            token.children = list(_linked(token.children or [], link, link_code))
    # The parser escapes all text and leaves out addresses with other schemes than those of the web and of mail.
    html = mark_safe(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S308 # escaped above
    return Rendered(html, headings, passages)


def _plain(token: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in token.children or [])


def _anchor(text: str, headings: list[Heading]) -> str:
    """The anchor as GitHub makes it; a second heading with the same text gets a number."""
    anchor = re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")
    same = sum(heading.text.lower() == text.lower() for heading in headings)
    return f"{anchor}-{same}" if same else anchor


def _linked(
    tokens: list[Token], link: Callable[[str], str | None], link_code: Callable[[str], str | None]
) -> Iterator[Token]:
    # Whether each open link is shown.
    shown: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            address = link(str(token.attrGet("href")))
            shown.append(address is not None)
            if address is None:
                continue
            token.attrSet("href", address)
        elif token.type == "link_close" and not shown.pop():
            continue
        elif (
            token.type == "code_inline"
            and not any(shown)
            and (address := link_code(token.content)) is not None
        ):
            yield Token("link_open", "a", 1, {"href": address})
            yield token
            yield Token("link_close", "a", -1)
            continue
        yield token
