"""What reports may cost: the time of a statement, and how many costly ones a workspace runs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import OperationalError

from accounts.admission import costly_report
from common.database import fetch, fetch_with
from common.errors import Unavailable

FEWER = "or fewer links by tags, domainId, creator or urlIds"
_CANCELED = "57014"


class ReportTooSlow(Unavailable):
    code = "report_too_slow"
    message = f"To add up so much takes too long; choose a shorter range, {FEWER}."


def admit(workspace: int, *, is_costly: bool, is_public: bool = False) -> AbstractContextManager[None]:
    """Raises TooManyAtOnce if the workspace, or the public of it, runs too many costly reports."""
    return costly_report(workspace, is_public=is_public) if is_costly else nullcontext()


def expected_rows(queries: Sequence[str], values: Mapping[str, Any]) -> int:
    """How many rows PostgreSQL expects of all queries with these values. It does not run them."""
    plans = [fetch(f"EXPLAIN (FORMAT JSON) {text}", values) for text in queries]
    return sum(int(plan[0]["Plan"]["Plan Rows"]) for [[plan]] in plans)


def fetch_bounded(text: str, values: Mapping[str, Any], limits: str = "") -> list[tuple[Any, ...]]:
    """The rows of a query of a report, with these settings. Raises ReportTooSlow after the statement timeout."""
    try:
        return fetch_with(limits, text, values) if limits else fetch(text, values)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != _CANCELED:
            raise
        raise ReportTooSlow from None
