"""How each dimension counts requests for links. The roll-ups, the reports and the audit derive from this table."""

from __future__ import annotations

import uuid
from typing import NamedTuple

from analytics.models import Dimension, Kind

UNKNOWN = "unknown"
IS_CLICK = f"kind = {Kind.CLICK}"
NOT_COUNTED = ("crawler", "prefetch", "head")
REFUSED_PREFIX = "refused:"


class Definition(NamedTuple):
    """``value`` and ``condition`` are SQL over the columns of a request, as ``analytics_click`` has them.

    The roll-ups store only clicks that meet the condition. ``value`` is not null for these.
    ``batch_value`` replaces the value where a batch of the pipeline has a column for it.
    """

    dimension: Dimension
    value: str
    condition: str = ""
    batch_value: str = ""
    of_clicks: bool = True

    @property
    def is_stored(self) -> str:
        """An SQL condition: the requests that the roll-ups store."""
        if not self.of_clicks:
            return f"NOT {IS_CLICK}"
        return f"{IS_CLICK} AND {self.condition}" if self.condition else IS_CLICK


_HOST = "split_part(referrer, '/', 3)"
# Same result as analytics.counting.tables.enrichment.
_SITE = f"""CASE
    WHEN referrer = '' THEN 'direct'
    WHEN strpos(referrer, '://') = 0 THEN '{UNKNOWN}'
    ELSE substr({_HOST}, CASE WHEN starts_with({_HOST}, 'www.') THEN 5 ELSE 1 END)
END"""
# The branch of clicks with a number that the history of the link's branches does not have.
UNKNOWN_BRANCH = uuid.UUID(int=0)
BRANCH = f"CASE branch WHEN '{UNKNOWN_BRANCH}' THEN '{UNKNOWN}' ELSE branch::text END"
_OUTCOME = f"""CASE kind
    {" ".join(f"WHEN {Kind[name.upper()]} THEN '{name}'" for name in NOT_COUNTED)} ELSE '{REFUSED_PREFIX}' || reason
END"""

DEFINITIONS = (
    Definition(Dimension.COUNTRY, "country"),
    # An unknown city is not stored: reports derive it from the clicks of the country.
    Definition(Dimension.CITY, "country || ' ' || city", condition=f"city <> '{UNKNOWN}'"),
    Definition(Dimension.DEVICE, "device"),
    Definition(Dimension.BROWSER, "browser"),
    Definition(Dimension.OPERATING_SYSTEM, "operating_system"),
    Definition(Dimension.REFERRER, _SITE, batch_value="referrer_host"),
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
OF_ALL_LINKS = [definition for definition in DEFINITIONS if definition not in OF_BRANCHES]
# The values of a complete dimension add up to the clicks of the day; those of a partial one may be fewer.
COMPLETE = [
    definition.dimension for definition in DEFINITIONS if definition.of_clicks and not definition.condition
]
PARTIAL = [
    definition.dimension for definition in DEFINITIONS if definition.of_clicks and definition.condition
]
