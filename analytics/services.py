"""Erases visits of a link for its owner."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from accounts.history import name_author, record_change
from accounts.models import Workspace
from analytics.counting.erasure import (
    Erased,
    erase_days,
    erase_old_clicks,
    keep_in_counter,
    take_from_counter,
)
from common.database import in_one_transaction
from common.host import cache_versions
from links.clicks import subtract_clicks
from links.code_claims import codes_of
from links.models import Link
from links.rules import time_of_change
from links.selectors import get_link


class Erasure(NamedTuple):
    """``raw_clicks``: entries of the click log. ``click_count``: what the link's counter has now."""

    before: date
    erased: Erased
    raw_clicks: int
    click_count: int


def erase_visits(*, owner: Workspace, found: Link, before: date, from_count: bool) -> Erasure:
    """Erase the visits of a link on the days (UTC) before this one, in its reports and in its click log.

    ``from_count``: the link's counter loses the clicks, too, also those that were erased earlier. Raises NotFound if
    the link is deleted meanwhile, or Unavailable if there are too many for one call.
    """
    old_clicks = erase_old_clicks(found.pk, before)

    def work() -> tuple[Erasure, list[str]]:
        name_author()
        link = get_link(owner, str(found.public_id), lock=True)
        erased, raw_clicks = erase_days(link.pk, before)
        raw_clicks += old_clicks
        codes = []
        if from_count:
            click_count = subtract_clicks(link.pk, **take_from_counter(link.pk, erased)._asdict())
            # All hosts look up again whether the link has clicks left.
            link.updated_at = time_of_change(link)
            link.save(update_fields=["updated_at"])
            codes = codes_of(link.pk)
        else:
            keep_in_counter(link.pk, erased)
            click_count = link.counter.clicks
        record_change(
            owner_id=link.owner_id,
            object_id=link.public_id,
            action="link.visits_erased",
            after={"before": before.isoformat(), "clicks": erased.clicks, "clickCount": click_count},
        )
        return Erasure(before, erased, raw_clicks, click_count), codes

    erasure, codes = in_one_transaction(work)
    if codes:
        cache_versions.bump(codes=codes)
    return erasure
