"""Raw clicks and the roll-ups of them.

Rows refer to links by id, without foreign keys: the database must accept a click of a link that was just deleted, and
the deletion of a link must not wait for millions of rows.

``slot``: concurrent drainers add to separate rows of a sum, and imports to rows of their own, see
`analytics.counting.tables.slots`. Add the slots up.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from analytics.pipeline_models import (  # noqa: F401 # Django finds models in this module
    DeadLetter,
    DeletedLink,
    HostClock,
    JournalLoss,
    PendingRecord,
    Segment,
)


class Dimension(models.IntegerChoices):
    """The property that a roll-up groups by. ``OUTCOME`` groups requests that are not clicks, the others clicks.

    Only ``CLIENT`` has every click, see `analytics.dimensions`.
    """

    COUNTRY = 1
    # Values contain the country ("DE Berlin"), because the names of cities are not unique.
    CITY = 2
    # Device, operating system and browser in one value: a click on a quiet link adds one row for all three.
    CLIENT = 3
    REFERRER = 4
    OUTCOME = 5
    # "qr" for a click on the link of a QR code. Other clicks are not stored.
    SOURCE = 6
    # API ids of branches (see links.models.Route). Clicks that led to the link's own destination are not stored.
    BRANCH = 7
    # Like BRANCH, of unique clicks only.
    UNIQUE_BRANCH = 8


class Kind(models.IntegerChoices):
    """The result of a request for a link. Only a click counts."""

    CLICK = 0
    HEAD = 1
    PREFETCH = 2
    CRAWLER = 3
    REFUSED = 4


def _names(choices: type[models.IntegerChoices]) -> str:
    return ", ".join(f"{choice.value} {choice.name.lower()}" for choice in choices) + "."


class Click(models.Model):
    """One request for a link, without the visitor's address. The table is partitioned by month of ``time``."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    time = models.DateTimeField(db_comment="When the request was answered.")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    kind = models.SmallIntegerField(choices=Kind, db_comment=_names(Kind))
    reason = models.TextField(db_comment="Reason for a refusal, otherwise empty.")
    country = models.TextField(db_comment="ISO 3166-1 alpha-2, or unknown.")
    city = models.TextField(db_comment="Name, or unknown.")
    device = models.TextField(db_comment="desktop, mobile, tablet or unknown.")
    browser = models.TextField(db_comment="Name, or unknown.")
    operating_system = models.TextField(db_comment="Name, or unknown.")
    referrer = models.TextField(
        db_comment="URL without query and fragment, unknown, or empty for a direct visit."
    )
    scanned = models.BooleanField(default=False, db_default=False, db_comment="Whether a QR code led to it.")
    # Found when the click is counted: the history of the branch's number may change afterwards.
    branch = models.UUIDField(
        null=True,
        db_comment="API id of the branch, see links_route. Null: the link itself; zeros: unknown.",
    )
    is_unique = models.BooleanField(
        default=False,
        db_default=False,
        db_comment="The visitor's first click that day. Recorded for branches only.",
    )

    class Meta:
        db_table_comment = "Requests for links. The view analytics_readable_click names the kinds."
        indexes = [
            models.Index(fields=["link_id", "-time", "-id"], name="click_link_time"),
            # Rows are stored roughly in the order of their times, so a few bytes for each megabyte suffice.
            BrinIndex(fields=["time"], autosummarize=True, name="click_time"),
        ]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.get_kind_display()}"


class DayTotal(models.Model):
    """Clicks of a link on a day (UTC). A click is unique if it is the visitor's first one on that link and day."""

    pk = models.CompositePrimaryKey("link_id", "day", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    day = models.DateField(db_comment="Day (UTC).")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    clicks = models.BigIntegerField(db_comment="Clicks.")
    unique_clicks = models.BigIntegerField(db_comment="First clicks of visitors that day.")

    class Meta:
        db_table_comment = "Clicks of each link and day (UTC). Add up the slots."


class QuarterTotal(models.Model):
    """Like DayTotal, by quarter of an hour: the hours and days of every time zone consist of these."""

    pk = models.CompositePrimaryKey("link_id", "start", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    start = models.DateTimeField(db_comment="Start of the quarter of an hour.")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    clicks = models.BigIntegerField(db_comment="Clicks.")
    unique_clicks = models.BigIntegerField(db_comment="First clicks of visitors that day.")

    class Meta:
        db_table_comment = "Clicks of each link and quarter of an hour. Add up the slots."


class DayCount(models.Model):
    """Clicks of a link on a day (UTC) with one value of a dimension, see `analytics.dimensions`."""

    pk = models.CompositePrimaryKey("link_id", "dimension", "day", "value", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    dimension = models.SmallIntegerField(choices=Dimension, db_comment=_names(Dimension))
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    day = models.DateField(db_comment="Day (UTC).")
    value = models.TextField(db_collation="C", db_comment="Value of the dimension.")
    clicks = models.BigIntegerField(db_comment="Clicks, or other requests for outcome.")

    class Meta:
        db_table_comment = "Clicks by link, day and value. See the view analytics_readable_daycount."


class LifeCount(models.Model):
    """Like DayCount over a link's lifetime: the report of an old or busy link costs no more than that of a new one.

    It includes the days up to ClosedDay. Take later days from DayCount.
    """

    pk = models.CompositePrimaryKey("link_id", "dimension", "value", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    dimension = models.SmallIntegerField(choices=Dimension, db_comment=_names(Dimension))
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    value = models.TextField(db_collation="C", db_comment="Value of the dimension.")
    clicks = models.BigIntegerField(db_comment="Clicks, or other requests for outcome.")

    class Meta:
        db_table_comment = "DayCount of all closed days. See the view analytics_readable_lifecount."


class MonthCount(models.Model):
    """Like LifeCount, but of one month, without ``OUTCOME``, and only of the months that BusyMonth lists.

    Most links have few clicks in a month: their days are read as quickly, and these rows would cost space.
    """

    pk = models.CompositePrimaryKey("link_id", "dimension", "month", "value", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    dimension = models.SmallIntegerField(choices=Dimension, db_comment=_names(Dimension))
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    month = models.DateField(db_comment="First day of the month (UTC).")
    value = models.TextField(db_collation="C", db_comment="Value of the dimension.")
    clicks = models.BigIntegerField(db_comment="Clicks.")

    class Meta:
        db_table_comment = (
            "DayCount of closed days by busy month. See the view analytics_readable_monthcount."
        )


class BusyMonth(models.Model):
    """A month of a link of which MonthCount has all closed days."""

    pk = models.CompositePrimaryKey("link_id", "month")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    month = models.DateField(db_comment="First day of the month (UTC).")

    class Meta:
        db_table_comment = "Months of links with many clicks, which analytics_monthcount includes."


class ClosedDay(models.Model):
    """One row: the last day (UTC) that LifeCount and MonthCount include."""

    day = models.DateField(primary_key=True, db_comment="Day (UTC).")

    class Meta:
        db_table_comment = "One row: the last day that analytics_lifecount and analytics_monthcount include."


class UnknownCode(models.Model):
    """Requests for codes that a domain does not have, by day (UTC). Domain 0 is the default domain."""

    pk = models.CompositePrimaryKey("domain_id", "day", "slot")
    domain_id = models.BigIntegerField(db_comment="Domain; 0: the default domain.")
    day = models.DateField(db_comment="Day (UTC).")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    hits = models.BigIntegerField(db_comment="Requests.")

    class Meta:
        db_table_comment = "Requests for unknown codes, by domain and day (UTC). Add up the slots."


class DayVisitor(models.Model):
    """The visitors of a link on a day (UTC), as keyed hashes. The key is the day's salt."""

    pk = models.CompositePrimaryKey("day", "link_id", "visitor")
    day = models.DateField(db_comment="Day (UTC).")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    visitor = models.BigIntegerField(db_comment="The 64 bits of the hash.")

    class Meta:
        db_table_comment = "Visitors of each link and day (UTC), as keyed hashes."


class DaySalt(models.Model):
    """The key of a day's visitor hashes. It is deleted after two days; then the hashes identify nobody."""

    day = models.DateField(primary_key=True, db_comment="Day (UTC).")
    salt = models.BinaryField(db_comment="Key of the day's hashes.")

    class Meta:
        db_table_comment = "Keys of the visitor hashes, deleted after two days."
