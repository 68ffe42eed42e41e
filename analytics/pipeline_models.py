"""The state of the pipeline that counts clicks: journal segments, records outside the journal, and deleted links."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class Segment(models.Model):
    """The number of counted bytes of a journal segment, stored in the transaction that counts them.

    The row outlives the segment by days, because rewritten records refer to their origin.
    """

    id = models.UUIDField(primary_key=True, db_comment="Name of the segment's file.")
    offset = models.BigIntegerField(default=0, db_default=0, db_comment="Bytes counted.")
    finished_at = models.DateTimeField(null=True, db_comment="When it was counted completely.")

    class Meta:
        db_table_comment = "Counted bytes of each journal segment."

    def __str__(self) -> str:
        return f"{self.id} up to {self.offset}"


class JournalLoss(models.Model):
    """A wiped range of a segment whose records this database has not counted.

    ``size``: the bytes between ``start`` and ``end`` of which no copy was counted either.
    """

    segment_id = models.UUIDField(primary_key=True, db_comment="Name of the segment's file.")
    start = models.BigIntegerField(db_comment="First byte.")
    end = models.BigIntegerField(db_comment="Byte after the last one.")
    size = models.BigIntegerField(db_comment="Bytes without any counted copy.")
    found_at = models.DateTimeField(db_default=Now(), db_comment="When the loss was found.")

    class Meta:
        db_table_comment = "Parts of the journal that were emptied before this database counted them."

    def __str__(self) -> str:
        return f"{self.size} bytes of segment {self.segment_id}"


class HostClock(models.Model):
    """The date of a host's clock, see `analytics.counting.host_clocks`."""

    host = models.TextField(primary_key=True, db_comment="Name of the host, and its VAR_DIR.")
    day = models.DateField(db_comment="Date of its clock (UTC).")
    report = models.BigIntegerField(db_comment="Number of the report, counted over all hosts.")

    class Meta:
        db_table_comment = (
            "Dates of the hosts' clocks. A day is closed once all of them confirm that it is over."
        )

    def __str__(self) -> str:
        return f"{self.host}: {self.day}"


class PendingRecord(models.Model):
    """A record stored in the database instead of the journal, encrypted because it contains the visitor's address."""

    id = models.BigAutoField(primary_key=True, db_comment="Order of arrival.")
    record = models.BinaryField(db_comment="The record, encrypted.")

    class Meta:
        db_table_comment = "Click records that wait in the database instead of a journal."


class DeadLetter(models.Model):
    """A record that cannot be counted, encrypted. It is kept until an operator deletes it."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    record = models.BinaryField(db_comment="The record, encrypted.")
    reason = models.TextField(db_comment="Why it cannot be counted.")
    created_at = models.DateTimeField(db_default=Now(), db_comment="Creation time.")

    class Meta:
        db_table_comment = "Click records that cannot be counted."

    def __str__(self) -> str:
        return self.reason


class DeletedLink(models.Model):
    """A deleted link whose clicks housekeeping deletes later. A trigger on the links inserts the row."""

    link_id = models.BigIntegerField(primary_key=True, db_comment="The deleted link.")

    class Meta:
        db_table_comment = "Deleted links whose clicks housekeeping will delete."
