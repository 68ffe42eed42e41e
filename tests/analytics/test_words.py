from babel import Locale
from django.conf.locale import LANG_INFO
from django.utils.translation import override

from analytics.language_names import LANGUAGE_NAMES
from analytics.words import shown


def test_names_of_languages_are_those_of_cldr_where_django_has_none() -> None:
    assert LANGUAGE_NAMES.keys().isdisjoint(LANG_INFO)
    for name in ("en", "de"):
        languages = Locale(name).languages
        with override(name):
            assert {code: shown("topLanguages", [code]) for code in LANGUAGE_NAMES} == {
                code: languages[code] for code in LANGUAGE_NAMES
            }
            assert [shown("topLanguages", [code]) for code in ("zh", "de", "xx")] == [
                *({"en": ["Chinese", "German"], "de": ["Chinesisch", "Deutsch"]}[name]),
                "xx",
            ]
