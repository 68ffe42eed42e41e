"""What is known of clicks. Links are named by their number, without foreign keys: a click that is on its way when its
link is deleted must not be refused, and deleting a link must not wait for millions of rows.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Dimension(models.IntegerChoices):
    """What a roll-up counts by. ``OUTCOME`` counts what is no click, see ``Kind``; the others count clicks."""

    COUNTRY = 1
    # Values are "DE Berlin": names of cities mean little without their country.
    CITY = 2
    DEVICE = 3
    BROWSER = 4
    OPERATING_SYSTEM = 5
    REFERRER = 6
    OUTCOME = 7
    # "qr" for a click that came by way of a printed code; others are not counted by it.
    SOURCE = 8


class Kind(models.IntegerChoices):
    """What came of a request for a link. Only a click counts."""

    CLICK = 0
    HEAD = 1
    PREFETCH = 2
    CRAWLER = 3
    REFUSED = 4


class Click(models.Model):
    """One request for a link, without the visitor's address. The table is partitioned by month of ``time``."""

    id = models.BigAutoField(primary_key=True)
    time = models.DateTimeField()
    link_id = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=Kind)
    reason = models.TextField(help_text="Why it was refused; else empty.")
    country = models.TextField(help_text="ISO 3166-1 alpha-2, or unknown.")
    city = models.TextField(help_text="Its name, or unknown.")
    device = models.TextField()
    browser = models.TextField()
    operating_system = models.TextField()
    referrer = models.TextField(
        help_text="Address without query and fragment, unknown, or empty for a direct visit."
    )
    scanned = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [models.Index(fields=["link_id", "-time", "-id"], name="click_link_time")]

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.get_kind_display()}"


class DayTotal(models.Model):
    """Clicks of a link on a day (UTC). A click is unique when it is the visitor's first of that day on that link."""

    pk = models.CompositePrimaryKey("link_id", "day")
    link_id = models.BigIntegerField()
    day = models.DateField()
    clicks = models.BigIntegerField()
    unique_clicks = models.BigIntegerField()


class QuarterTotal(models.Model):
    """As DayTotal, by quarter of an hour: every time zone's hours and days are made of these."""

    pk = models.CompositePrimaryKey("link_id", "start")
    link_id = models.BigIntegerField()
    start = models.DateTimeField()
    clicks = models.BigIntegerField()
    unique_clicks = models.BigIntegerField()


class DayCount(models.Model):
    """Clicks of a link on a day (UTC) by one value of a dimension. They add up to the day's total."""

    pk = models.CompositePrimaryKey("link_id", "dimension", "day", "value")
    link_id = models.BigIntegerField()
    dimension = models.SmallIntegerField(choices=Dimension)
    day = models.DateField()
    value = models.TextField(db_collation="C")
    clicks = models.BigIntegerField()


class LifeCount(models.Model):
    """As DayCount over a link's whole life, so that its report costs the same however long and busy that was.

    Days are added when they are over; those after ClosedDay are to be taken from DayCount.
    """

    pk = models.CompositePrimaryKey("link_id", "dimension", "value")
    link_id = models.BigIntegerField()
    dimension = models.SmallIntegerField(choices=Dimension)
    value = models.TextField(db_collation="C")
    clicks = models.BigIntegerField()


class ClosedDay(models.Model):
    """One row: the last day (UTC) that is in LifeCount."""

    day = models.DateField(primary_key=True)

    def __str__(self) -> str:
        return self.day.isoformat()


class UnknownCode(models.Model):
    """Requests for codes that a domain does not have, by day (UTC). Domain 0 is the default one."""

    pk = models.CompositePrimaryKey("domain_id", "day")
    domain_id = models.BigIntegerField()
    day = models.DateField()
    hits = models.BigIntegerField()


class DayVisitor(models.Model):
    """Who has clicked on a link on a day (UTC), as a keyed hash whose key is the day's salt."""

    pk = models.CompositePrimaryKey("day", "link_id", "visitor")
    day = models.DateField()
    link_id = models.BigIntegerField()
    visitor = models.UUIDField(help_text="Not an identifier: the 128 bits of the hash.")


class DaySalt(models.Model):
    """Destroyed after two days, and with it the possibility to tell who a visitor was."""

    day = models.DateField(primary_key=True)
    salt = models.BinaryField()

    def __str__(self) -> str:
        return self.day.isoformat()


class Segment(models.Model):
    """How far a journal's segment has been counted, in bytes. Written in the transaction that counts.

    It outlives the segment by days, as records that were written again name where they stood first.
    """

    id = models.UUIDField(primary_key=True)
    offset = models.BigIntegerField(default=0, db_default=0)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.id} up to {self.offset}"


class PendingRecord(models.Model):
    """A journal record that came by way of the database, sealed, as it holds the visitor's address."""

    id = models.BigAutoField(primary_key=True)
    record = models.BinaryField()

    def __str__(self) -> str:
        return str(self.id)


class DeadLetter(models.Model):
    """A record that cannot be counted, sealed; kept until somebody has looked at it."""

    record = models.BinaryField()
    reason = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.reason


class DeletedLink(models.Model):
    """A link whose clicks are to be deleted in the background. The database makes the row with the deletion."""

    link_id = models.BigIntegerField(primary_key=True)

    def __str__(self) -> str:
        return str(self.link_id)
