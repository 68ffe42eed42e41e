"""The languages of a browser: the one that its user prefers, and the first that the service has a text in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

_ITEM = re.compile(
    r"([a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?",
    re.IGNORECASE | re.ASCII,
)
_MAX_ITEMS = 50
# What is parsed of a header, and remembered as a key of caches. Browsers send less than a hundred characters.
MAX_CHARACTERS = 512


def preferred_language(header: str) -> str | None:
    """Return the most preferred language range in lower case, the first of several with the same quality.

    By RFC 9110, section 12.5.4. None if the header names no language, or prefers any language ("*") to all others.
    Malformed items are ignored.
    """
    best, best_quality = None, 0.0
    for item in header[:MAX_CHARACTERS].split(",", _MAX_ITEMS)[:_MAX_ITEMS]:
        match = _ITEM.fullmatch(item.strip(" \t"))
        if match and (quality := float(match[2] or 1)) > best_quality:
            best, best_quality = match[1].lower(), quality
    return None if best == "*" else best


def counted_language(header: str) -> str:
    """Return the preferred language as reports count it: ``pt`` of ``pt-BR``. Empty if there is none.

    Only the primary subtag, and only one of ISO 639 (two or three letters): visitors choose the header, and each value
    multiplies those of their country, which mostly tells the rest.
    """
    return _main_subtag(header[:MAX_CHARACTERS])


@lru_cache(maxsize=1024)
def _main_subtag(header: str) -> str:
    main = (preferred_language(header) or "").partition("-")[0]
    return main if 2 <= len(main) <= 3 else ""


def preferred(accepted: str, known: Iterable[str]) -> str:
    """The first language of an Accept-Language header that is known, by its main part; English if there is none."""
    languages = {*known}
    for language, _ in parse_accept_lang_header(accepted):
        if (main := language.partition("-")[0]) in languages:
            return main
    return "en"


@lru_cache(maxsize=1024)
def page_language(accepted: str) -> str:
    """The language of a page that Django renders: one of the catalogues in ``shortener_project/locale``."""
    return preferred(accepted, (code for code, _ in settings.LANGUAGES))
