"""Raw clicks, the roll-ups of them, and the state of the pipeline that counts clicks.

Rows refer to links by id, without foreign keys: the database must accept a click of a link that was just deleted, and
the deletion of a link must not wait for millions of rows.

``slot``: concurrent drainers add to separate rows of a sum, and imports to rows of their own, see
`analytics.counting.days`. Add the slots up.
"""

from __future__ import annotations

from datetime import date

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Value
from django.db.models.functions import Now

from accounts.models import User, Workspace
from common.ids import new_public_id

# Raw clicks have the minute since 1970 (UTC) and the microsecond of the minute; their texts have the week.
MINUTE_MICROSECONDS = 60_000_000
WEEK_MINUTES = 7 * 24 * 60


class Dimension(models.IntegerChoices):
    """The property that a roll-up groups by. ``OUTCOME`` groups requests that are not clicks, the others clicks.

    Only ``CLIENT`` has every click, see `analytics.dimensions`.
    """

    # With the language of the browser, after a space: most visitors of a country have the same, so this adds fewer
    # values than with the browser, and a click adds no row for it.
    COUNTRY = 1
    # Values contain the country ("DE Berlin"), because the names of cities are not unique, and the region, which the
    # city mostly decides, after a tab.
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
    # From a network that the workspace ignores, or a browser that asked for it.
    IGNORED = 5


def _names(choices: type[models.IntegerChoices]) -> str:
    return ", ".join(f"{choice.value} {choice.name.lower()}" for choice in choices) + "."


class Click(models.Model):
    """One request for a link, without the visitor's address: RawClick with its texts. A view.

    ``time`` is computed: filter and order by ``minute`` first, which has an index.
    """

    id = models.BigIntegerField(primary_key=True)
    time = models.DateTimeField()
    link_id = models.BigIntegerField()
    kind = models.SmallIntegerField(choices=Kind)
    reason = models.TextField()
    country = models.TextField()
    city = models.TextField()
    region = models.TextField()
    device = models.TextField()
    browser = models.TextField()
    operating_system = models.TextField()
    language = models.TextField()
    referrer = models.TextField()
    scanned = models.BooleanField()
    branch = models.UUIDField(null=True)
    is_unique = models.BooleanField()
    minute = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M:%S} {self.get_kind_display()}"


class RawClick(models.Model):
    """A stored request. The table is partitioned by month of ``minute``; ClickText has the texts of its week."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    minute = models.IntegerField(db_comment="Minute since 1970 (UTC) in which the request was answered.")
    microsecond = models.IntegerField(db_comment="Microsecond of the minute.")
    client = models.IntegerField(
        db_comment="Text: device, operating system, browser and, if known, language, with tabs between."
    )
    place = models.IntegerField(
        db_comment="Text: country (ISO 3166-1 alpha-2, or unknown), space, city or unknown; if known, tab and region."
    )
    referrer = models.IntegerField(
        db_comment="Text: URL without query and fragment, or unknown. 0 for a direct visit."
    )
    reason = models.IntegerField(db_comment="Text: reason for a refusal, otherwise 0.")
    # Found when the click is counted: the history of the branch's number may change afterwards.
    branch = models.IntegerField(
        db_comment="Text: API id of the branch, see links_route; zeros: unknown. 0: the link itself."
    )
    kind = models.SmallIntegerField(choices=Kind, db_comment=_names(Kind))
    scanned = models.BooleanField(db_comment="Whether a QR code led to it.")
    is_unique = models.BooleanField(
        db_comment="The visitor's first click that day. Recorded for branches only."
    )

    class Meta:
        db_table_comment = "Requests for links. See the view analytics_readable_click."
        indexes = [
            # Equal keys share an entry: a busy link has many clicks in a minute.
            models.Index(fields=["link_id", "minute"], name="rawclick_link_minute"),
            # Rows are stored roughly in the order of their times, so a few bytes for each megabyte suffice.
            BrinIndex(fields=["minute"], autosummarize=True, name="rawclick_minute"),
        ]


class ClickText(models.Model):
    """A text of RawClick. Rows of different numbers may have the same text."""

    pk = models.CompositePrimaryKey("week", "number")
    week = models.IntegerField(db_comment="Week since 1970-01-01 (UTC): its minute divided by 10080.")
    number = models.IntegerField(db_comment="Number that clicks of this week refer to.")
    text = models.TextField(db_comment="The text.")

    class Meta:
        db_table_comment = "Texts of clicks, by week."


class DayTotal(models.Model):
    """Clicks of a link on a day (UTC). A click is unique if it is the visitor's first one on that link and day.

    One row has all figures of a day, so that a click on a quiet link touches one row: QuarterTotal and DayCount are
    views of it. `analytics.counting.days` packs ``quarters`` and ``counts``.
    """

    pk = models.CompositePrimaryKey("link_id", "day", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    day = models.DateField(db_comment="Day (UTC).")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    quarter = models.SmallIntegerField(
        db_default=0, db_comment="Quarter of an hour of the day, from 0 to 95, if quarters is null."
    )
    clicks = models.IntegerField(db_comment="Clicks.")
    unique_clicks = models.IntegerField(db_comment="First clicks of visitors that day.")
    quarters = ArrayField(
        models.IntegerField(),
        null=True,
        db_comment="Number, clicks and unique clicks of quarters of an hour, if there are several."
        " Add up equal numbers.",
    )
    counts = models.TextField(
        null=True,
        db_collation="C",
        db_comment="Clicks by value, see the view analytics_daycount. Null: rows in analytics_busydaycount.",
    )

    class Meta:
        db_table_comment = "Clicks of each link and day (UTC). Add up the slots."


class QuarterTotal(models.Model):
    """A view that counts like DayTotal, by quarter of an hour: hours and days of every time zone consist of these.

    A quarter of an hour can have several rows: add them up.
    """

    pk = models.CompositePrimaryKey("link_id", "start", "slot")
    link_id = models.BigIntegerField()
    day = models.DateField()
    start = models.DateTimeField()
    slot = models.SmallIntegerField()
    clicks = models.IntegerField()
    unique_clicks = models.IntegerField()

    class Meta:
        managed = False


class DayCount(models.Model):
    """Clicks of a link on a day (UTC) with one value of a dimension, see `analytics.dimensions`. A view.

    It has the values that DayTotal packs, and the rows of BusyDayCount. A value can have several rows: add them up.
    """

    pk = models.CompositePrimaryKey("link_id", "dimension", "day", "value", "slot")
    link_id = models.BigIntegerField()
    dimension = models.SmallIntegerField(choices=Dimension)
    slot = models.SmallIntegerField()
    day = models.DateField()
    value = models.TextField(db_collation="C")
    clicks = models.BigIntegerField()

    class Meta:
        managed = False


class BusyDayCount(models.Model):
    """Rows of DayCount: those of days with many values, and those of requests that are no clicks."""

    pk = models.CompositePrimaryKey("link_id", "dimension", "day", "value", "slot")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    dimension = models.SmallIntegerField(choices=Dimension, db_comment=_names(Dimension))
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    day = models.DateField(db_comment="Day (UTC).")
    value = models.TextField(db_collation="C", db_comment="Value of the dimension.")
    clicks = models.BigIntegerField(db_comment="Clicks, or other requests for outcome.")

    class Meta:
        db_table_comment = (
            "Clicks by value on days with many values, and other requests. See the view analytics_daycount."
        )


class LifeCount(models.Model):
    """Counts like DayCount over a link's lifetime: the report of an old link costs no more than that of a new one.

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
    """Counts like LifeCount, but of one month, without ``OUTCOME``, and only of the months that BusyMonth lists.

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


class UnreportedClicks(models.Model):
    """Clicks that a link's counter includes, but no report: erased ones, and ignored ones of links with a limit."""

    link_id = models.BigIntegerField(primary_key=True, db_comment="Link; it may be deleted.")
    clicks = models.BigIntegerField(db_comment="Clicks of this service.")
    imported = models.BigIntegerField(db_comment="Clicks that another service counted.")

    class Meta:
        db_table_comment = "Clicks that the counters of links include, but no report: erased or ignored ones."


class ClosedDay(models.Model):
    """One row: the last day (UTC) that LifeCount and MonthCount include, and the first one with all raw clicks."""

    day = models.DateField(primary_key=True, db_comment="Day (UTC).")
    raw_from = models.DateField(
        db_default=Value(date(1970, 1, 1)), db_comment="Day (UTC) from which on no raw clicks have expired."
    )

    class Meta:
        db_table_comment = "One row: the last day that analytics_lifecount and analytics_monthcount include."


class Rollup(models.Model):
    """A workspace or a domain of which the days of all links are added up, see `analytics.counting.summed_links`.

    The sums are in the tables of links' days, under the number ``-id``.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Its rows have minus this number as link_id.")
    owner_id = models.BigIntegerField(null=True, unique=True, db_comment="Workspace; it may be deleted.")
    domain_id = models.BigIntegerField(null=True, unique=True, db_comment="Domain; it may be deleted.")
    is_complete = models.BooleanField(
        db_default=False, db_comment="Whether it has all clicks; otherwise they are being added up."
    )
    begun_at = models.DateTimeField(db_default=Now(), db_comment="When it was begun.")

    class Meta:
        db_table_comment = "Workspaces and domains of which the days of all links are added up."


class RollupChange(models.Model):
    """What the days of a roll-up lack. Numbers are negative for links that have left it."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_comment="Minus the number of the roll-up.")
    day = models.DateField(db_comment="Day (UTC).")
    slot = models.SmallIntegerField(db_comment="-1 for imported clicks, otherwise 0.")
    clicks = models.IntegerField(db_comment="Clicks.")
    unique_clicks = models.IntegerField(db_comment="Unique clicks.")
    quarters = ArrayField(
        models.IntegerField(), db_comment="Like analytics_daytotal.quarters, with all quarters of an hour."
    )
    counts = models.TextField(db_collation="C", db_comment="Like analytics_daytotal.counts.")
    outcomes = models.TextField(db_collation="C", db_comment="Other requests by outcome, packed like counts.")
    links = ArrayField(models.BigIntegerField(), db_comment="The links of the clicks.")
    link_clicks = ArrayField(models.IntegerField(), db_comment="Clicks of each of the links.")

    class Meta:
        db_table_comment = (
            "What analytics_daytotal, analytics_busydaycount and analytics_rolluplinks lack of roll-ups."
        )
        indexes = [models.Index(fields=["link_id", "day"], name="rollupchange_link_day")]


class RollupLinks(models.Model):
    """Which links the clicks of a roll-up's day (UTC) are on, for reports of the best ones: some rows for each bucket.

    A bucket has the links whose numbers differ in the last LINK_BITS bits only. The rows of a link add up, to nothing
    after it has left.
    """

    LINK_BITS = 15

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    link_id = models.BigIntegerField(db_comment="Minus the number of the roll-up.")
    bucket = models.IntegerField(db_comment="The numbers of the links without their last 15 bits.")
    day = models.DateField(db_comment="Day (UTC).")
    number = models.IntegerField(db_comment="How many links.")
    links = ArrayField(models.BigIntegerField(), db_comment="The links.")
    clicks = ArrayField(
        models.IntegerField(), db_comment="Clicks of each of the links. Add up those of all rows."
    )

    class Meta:
        db_table_comment = "Clicks of the links of each roll-up by day (UTC). Add up all rows."
        indexes = [models.Index(fields=["link_id", "bucket", "day"], name="rolluplinks_link_bucket_day")]


class UnknownCode(models.Model):
    """Requests for codes that a domain does not have, by day (UTC). Domain 0 is the default domain."""

    pk = models.CompositePrimaryKey("domain_id", "day", "slot")
    domain_id = models.BigIntegerField(db_comment="Domain; 0: the default domain.")
    day = models.DateField(db_comment="Day (UTC).")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    hits = models.BigIntegerField(db_comment="Requests.")
    codes = models.SmallIntegerField(
        db_default=0, db_comment="Codes that this slot has added to analytics_missedcode."
    )

    class Meta:
        db_table_comment = "Requests for unknown codes, by domain and day (UTC). Add up the slots."


class MissedCode(models.Model):
    """An unknown code that visitors requested on a day (UTC), see `analytics.counting.unknown_codes`."""

    pk = models.CompositePrimaryKey("domain_id", "day", "code", "slot")
    domain_id = models.BigIntegerField(db_comment="Domain; 0: the default domain.")
    last_at = models.DateTimeField(db_comment="Time of the last request.")
    day = models.DateField(db_comment="Day (UTC).")
    hits = models.IntegerField(db_comment="Requests.")
    slot = models.SmallIntegerField(db_default=0, db_comment="Spreads concurrent writes.")
    code = models.TextField(db_collation="C", db_comment="The code.")
    referrers = models.TextField(
        db_collation="C", db_comment="Hosts of the most frequent referrers with their requests, packed."
    )

    class Meta:
        db_table_comment = "Some of the unknown codes, by domain and day (UTC). Add up the slots."
        indexes = [BrinIndex(fields=["day"], autosummarize=True, name="missedcode_day")]


class VisitorBlock(models.Model):
    """Some of the visitors of a link on a day (UTC), as keyed hashes. The key is the day's salt.

    See `analytics.counting.day_visitors`.
    """

    pk = models.CompositePrimaryKey("link_id", "day", "first")
    link_id = models.BigIntegerField(db_comment="Link; it may be deleted.")
    first = models.BigIntegerField(
        db_comment="The block has the hashes from this number on, up to the first of the next block."
    )
    day = models.DateField(db_comment="Day (UTC).")
    blocks = models.SmallIntegerField(
        db_comment="In the block with the lowest number: how many the link has that day, at most 32767."
    )
    hashes = models.BinaryField(db_comment="Hashes of 64 bits, little-endian, in any order.")

    class Meta:
        db_table_comment = "Visitors of each link and day (UTC), as blocks of keyed hashes."


class DaySalt(models.Model):
    """The key of a day's visitor hashes. It is deleted after two days; then the hashes identify nobody."""

    day = models.DateField(primary_key=True, db_comment="Day (UTC).")
    salt = models.BinaryField(db_comment="Key of the day's hashes.")

    class Meta:
        db_table_comment = "Keys of the visitor hashes, deleted after two days."


class Segment(models.Model):
    """The number of counted bytes of a journal segment, stored in the transaction that counts them.

    The row outlives the segment by days, because rewritten records refer to their origin.
    """

    id = models.UUIDField(primary_key=True, db_comment="Name of the segment's file.")
    offset = models.BigIntegerField(default=0, db_default=0, db_comment="Bytes counted.")
    finished_at = models.DateTimeField(null=True, db_comment="When it was counted completely.")

    class Meta:
        verbose_name, verbose_name_plural = "journal file", "journal files"
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
    """The date of a host's clock, see `analytics.counting.closed_days`."""

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
        verbose_name, verbose_name_plural = "record that cannot be counted", "records that cannot be counted"
        db_table_comment = "Click records that cannot be counted."

    def __str__(self) -> str:
        return self.reason


class DeletedLink(models.Model):
    """A deleted link whose clicks housekeeping deletes later. A trigger on the links inserts the row."""

    link_id = models.BigIntegerField(primary_key=True, db_comment="The deleted link.")

    class Meta:
        db_table_comment = "Deleted links whose clicks housekeeping will delete."


class Share(models.Model):
    """A report that anybody may read who knows its address: that of a view, or that of a link.

    It names them by their API ids and reads them when it is read. Without them it shows nothing.
    """

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    public_id = models.UUIDField(default=new_public_id, unique=True, editable=False, db_comment="API id.")
    # The SQL of the migration creates this constraint, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False, db_comment="The workspace."
    )
    view_id = models.UUIDField(
        null=True, db_comment="API id of the view. Null: the report is that of a link."
    )
    url_id = models.UUIDField(null=True, db_comment="API id of the link. Null: the report is that of a view.")
    digest = models.BinaryField(unique=True, db_comment="SHA-256 digest of the token in the address.")
    period = models.CharField(max_length=5, null=True, db_comment="Null: that of the view, or all.")
    timezone = models.CharField(max_length=64, null=True, db_comment="Null: that of the view, or UTC.")
    password = models.CharField(max_length=128, null=True, db_comment="Hash. Null: none.")
    expires_at = models.DateTimeField(null=True, db_comment="Refused from this time on.")
    no_index = models.BooleanField(default=True, db_comment="Whether search engines are to ignore the page.")
    created_at = models.DateTimeField(db_default=Now(), editable=False, db_comment="Creation time.")
    updated_at = models.DateTimeField(auto_now=True, editable=False, db_comment="Last change.")

    class Meta:
        db_table_comment = "Reports that anybody may read who knows their address."

    def __str__(self) -> str:
        return str(self.public_id)


class EndedShare(models.Model):
    """The token of a deleted share, so that its address does not look like a mistyped one. A trigger inserts it."""

    digest = models.BinaryField(primary_key=True, db_comment="SHA-256 digest of the token.")
    ended_at = models.DateTimeField(db_default=Now(), db_comment="When the share was deleted.")

    class Meta:
        db_table_comment = "Digests of the tokens of deleted shares."


class ReportMail(models.Model):
    """Which reports of a workspace a member gets by mail. Without a row, none."""

    id = models.BigAutoField(primary_key=True, db_comment="Internal key.")
    # The SQL of the migration creates these constraints, with ON DELETE CASCADE.
    owner = models.ForeignKey(
        Workspace,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        db_comment="The workspace.",
    )
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, db_constraint=False, db_comment="The member who gets the mails."
    )
    weekly = models.BooleanField(default=False, db_comment="Whether they get a report of each week.")
    monthly = models.BooleanField(default=False, db_comment="Whether they get a report of each month.")
    alerts = models.BooleanField(default=False, db_comment="Whether they hear of unusual numbers of clicks.")
    created_at = models.DateTimeField(
        db_default=Now(), editable=False, db_comment="Only periods that end later are mailed."
    )

    class Meta:
        db_table_comment = "Which reports members get by mail."
        constraints = [models.UniqueConstraint(fields=["owner", "user"], name="reportmail_owner_user")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.owner_id}"


class MailedReport(models.Model):
    """A mail to one member about one period. Whoever inserts the row sends it, so nobody else does."""

    pk = models.CompositePrimaryKey("report_mail_id", "kind", "period")
    report_mail_id = models.BigIntegerField(db_comment="The row of analytics_reportmail.")
    kind = models.CharField(max_length=7, db_comment="weekly, monthly, spike or drop.")
    period = models.DateField(db_comment="First day (UTC) of the period.")
    attempts = models.SmallIntegerField(default=1, db_comment="How often the mail was tried.")
    retry_at = models.DateTimeField(null=True, db_comment="Next attempt. Null: it is sent, or being sent.")

    class Meta:
        db_table_comment = "Mails with reports, each of which is sent once."
