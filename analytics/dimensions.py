"""How each dimension counts requests for links. The reports and the audit derive from this table; the pipeline
counts the same values, see `analytics.counting.enrichment`. The audit compares both.

``CLIENT`` has every click. The other dimensions leave out their most frequent or least interesting value, so that a
click on a quiet link adds few rows: reports derive these clicks from ``CLIENT``, see `analytics.reports.queries`.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

from analytics.models import Dimension, Kind

UNKNOWN = "unknown"
DIRECT = "direct"
IS_CLICK = f"kind = {Kind.CLICK}"
NOT_COUNTED = ("crawler", "prefetch", "head", "ignored")
REFUSED_PREFIX = "refused:"
# Between the entries of ``counts`` in analytics_daytotal, and before the number of an entry if that is not 1.
BETWEEN_COUNTS = "\x1e"
BEFORE_NUMBER = "\x1f"


class Definition(NamedTuple):
    """``value`` and ``condition`` are SQL over the columns of a request, as ``analytics_click`` has them.

    The roll-ups store only clicks that meet the condition. ``value`` is not null for these.
    ``unknown`` is stored for clicks of which only the time is known, nothing if it is empty.
    """

    dimension: Dimension
    value: str
    condition: str = ""
    unknown: str = ""
    of_clicks: bool = True

    @property
    def is_stored(self) -> str:
        """An SQL condition: the requests that the roll-ups store."""
        if not self.of_clicks:
            return f"NOT {IS_CLICK}"
        return f"{IS_CLICK} AND {self.condition}" if self.condition else IS_CLICK


# No name has a tab. An unknown language or region takes no space: the values of clicks without one have no such part.
_TAB, _SPACE = r"E'\t'", "' '"


def _last_part(name: str, separator: str) -> str:
    return f"CASE {name} WHEN '{UNKNOWN}' THEN '' ELSE {separator} || {name} END"


def _part(number: int, separator: str = _TAB) -> str:
    return f"split_part(value, {separator}, {number})"


def _known_part(number: int, separator: str = _TAB) -> str:
    return f"coalesce(nullif({_part(number, separator)}, ''), '{UNKNOWN}')"


_CLIENT = f"device || {_TAB} || operating_system || {_TAB} || browser"
DEVICE_OF_CLIENT, SYSTEM_OF_CLIENT, BROWSER_OF_CLIENT = (_part(number) for number in (1, 2, 3))
# Only the texts of raw clicks have it, see `analytics.counting.raw_clicks`.
LANGUAGE_OF_CLIENT = _known_part(4)
_COUNTRY = f"country || {_last_part('language', _SPACE)}"
LANGUAGE_OF_COUNTRY = _known_part(2, _SPACE)
_CITY = f"country || ' ' || city || {_last_part('region', _TAB)}"
# Of values of COUNTRY and CITY.
COUNTRY_OF_PLACE = _part(1, _SPACE)
# With its country, like that of the region: names are not unique.
WHOLE_CITY_OF_CITY = _part(1)
CITY_OF_CITY = f"substr({WHOLE_CITY_OF_CITY}, strpos(value, ' ') + 1)"
REGION_OF_CITY = _known_part(2)
_HOST = "split_part(referrer, '/', 3)"
# The host of a stored referrer, for reports on raw clicks. `analytics.counting.enrichment` has the same rule
# for new clicks; a test compares both.
SITE = f"""CASE
    WHEN referrer = '' THEN '{DIRECT}'
    WHEN strpos(referrer, '://') = 0 THEN '{UNKNOWN}'
    ELSE substr({_HOST}, CASE WHEN starts_with({_HOST}, 'www.') THEN 5 ELSE 1 END)
END"""
# The branch of clicks with a number that the history of the link's branches does not have.
UNKNOWN_BRANCH = uuid.UUID(int=0)
BRANCH = f"CASE branch WHEN '{UNKNOWN_BRANCH}' THEN '{UNKNOWN}' ELSE branch::text END"
_OUTCOME = f"""CASE kind
    {" ".join(f"WHEN {Kind[name.upper()]} THEN '{name}'" for name in NOT_COUNTED)} ELSE '{REFUSED_PREFIX}' || reason
END"""


def _is_known(*names: str) -> str:
    parts = [f"{name} <> '{UNKNOWN}'" for name in names]
    return f"({' OR '.join(parts)})"


DEFINITIONS = (
    Definition(Dimension.COUNTRY, _COUNTRY, condition=_is_known("country", "language")),
    Definition(Dimension.CITY, _CITY, condition=_is_known("city", "region")),
    Definition(Dimension.CLIENT, _CLIENT, unknown="\t".join([UNKNOWN] * 3)),
    Definition(
        Dimension.REFERRER,
        SITE,
        condition=f"{SITE} <> '{DIRECT}'",
        unknown=UNKNOWN,
    ),
    Definition(Dimension.SOURCE, "CASE WHEN scanned THEN 'qr' ELSE 'link' END", condition="scanned"),
    Definition(Dimension.OUTCOME, _OUTCOME, of_clicks=False),
    Definition(Dimension.BRANCH, BRANCH, condition="branch IS NOT NULL"),
    Definition(Dimension.UNIQUE_BRANCH, BRANCH, condition="branch IS NOT NULL AND is_unique"),
)
# Only links with rules or a split have values of these dimensions.
OF_BRANCHES = [
    definition
    for definition in DEFINITIONS
    if definition.dimension in {Dimension.BRANCH, Dimension.UNIQUE_BRANCH}
]
# The values of a complete dimension add up to the clicks of the day; those of a partial one may be fewer.
COMPLETE = [
    definition.dimension for definition in DEFINITIONS if definition.of_clicks and not definition.condition
]
PARTIAL = [
    definition.dimension for definition in DEFINITIONS if definition.of_clicks and definition.condition
]
# The rows (dimension, value) of a click of which only the time is known.
WITH_UNKNOWN = [definition for definition in DEFINITIONS if definition.unknown]
OF_UNKNOWN_CLICKS = ", ".join(
    f"({definition.dimension}::smallint, '{definition.unknown}')" for definition in WITH_UNKNOWN
)
