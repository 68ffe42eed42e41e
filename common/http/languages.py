"""The language of a response for people: the first of the browser's that the service has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header


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
