"""Numbers and values of reports in the language of the page or mail that shows them."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf.locale import LANG_INFO
from django.utils import formats
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from analytics.dimensions import DIRECT, UNKNOWN
from analytics.language_names import LANGUAGE_NAMES
from analytics.reports.selected import OTHER
from common.countries import COUNTRY_NAMES

_OF_COUNTRIES = ("topCountries", "topRegions", "topCities")


def number(value: int) -> str:
    return formats.number_format(value, use_l10n=True, force_grouping=True)


def shown(name: str, texts: Sequence[str]) -> str:
    """A value of the list with this ``name`` in the API: of a city, the texts are its country and its name."""
    words = {UNKNOWN: _("Unknown"), OTHER: _("Other"), DIRECT: _("Direct")}
    if name == "topDevices":
        words |= {"desktop": _("Computer"), "mobile": _("Phone"), "tablet": _("Tablet")}
    named = [words.get(text) or _name(text, name) for text in dict.fromkeys(texts)]
    return ", ".join(reversed(named))


def _name(text: str, name: str) -> str:
    """The name of a country or a language that the list contains as a code."""
    if name == "topLanguages":
        if text in LANG_INFO:
            return str(get_language_info(text)["name_translated"])
        return _(LANGUAGE_NAMES[text]) if text in LANGUAGE_NAMES else text
    if name in _OF_COUNTRIES and text in COUNTRY_NAMES:
        return _(COUNTRY_NAMES[text])
    return text
