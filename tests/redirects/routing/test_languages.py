from __future__ import annotations

from common.http.languages import counted_language, preferred_language
from redirects.visit import MAX_RANGE, prefixes
from testing.cases import for_each


@for_each(
    ("header", "language"),
    [
        ("", None),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de-at"),
        ("en;q=0.8,de;q=0.9", "de"),
        ("en;q=0.8,de", "de"),
        # Of two with the same quality, the first.
        ("fr,de", "fr"),
        ("fr;q=0.5,de;q=0.5", "fr"),
        # q=0 excludes a language.
        ("de;q=0", None),
        ("de;q=0.000,en;q=0.001", "en"),
        # "*" stands for any language, so it is unknown which one.
        ("*", None),
        ("*;q=0.1,de;q=0.5", "de"),
        ("*,de;q=0.5", None),
        (" de ; q=0.5 ,\ten;q=0.4", "de"),
        ("DE;Q=1.000", "de"),
        ("zh-Hant-TW", "zh-hant-tw"),
        # Malformed items are ignored.
        ("de_DE,en;q=0.1", "en"),
        ("de;q=2,en;q=0.1", "en"),
        ("de;q=,en;q=0.1", "en"),
        ("de;level=1,en;q=0.1", "en"),
        ("deutschland,en;q=0.1", "en"),
        (",,;q=1,en;q=0.1", "en"),
        ("ä,en;q=0.1", "en"),
        ("x" * 10_000, None),
        ("," * 10_000 + "de", None),
    ],
)
def test_the_preferred_language_has_the_highest_quality(header: str, language: str | None) -> None:
    assert preferred_language(header) == language


@for_each(
    ("header", "language"),
    [
        ("", ""),
        ("de-AT,en;q=0.5", "de"),
        ("en;q=0.5,pt-BR", "pt"),
        ("HAW", "haw"),
        ("zh-Hant-TW", "zh"),
        ("*", ""),
        # No codes of ISO 639.
        ("x-klingon", ""),
        ("i-klingon,de;q=0.5", ""),
        ("deut", ""),
        ("de\t1", ""),
        (f"{' ' * 600}de", ""),
    ],
)
def test_reports_count_the_primary_subtag_of_the_preferred_language(header: str, language: str) -> None:
    assert counted_language(header) == language


def test_a_language_matches_the_ranges_of_its_first_subtags() -> None:
    assert prefixes("de") == {"de"}
    assert prefixes("zh-hant-tw") == {"zh", "zh-hant", "zh-hant-tw"}


def test_a_long_language_has_only_prefixes_that_a_condition_can_have() -> None:
    longest = "-".join(["a" * 8, "b" * 8, "c" * 8, "d" * 8])

    assert len(longest) == MAX_RANGE
    assert longest in prefixes(longest)
    assert max(map(len, prefixes(f"{longest}-e"))) == MAX_RANGE
    assert max(map(len, prefixes("-".join("a" * 256)))) == MAX_RANGE
    assert len(prefixes("-".join("a" * 256))) == 18
