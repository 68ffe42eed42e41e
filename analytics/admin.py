from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Concat
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from analytics.journal.reader import segment_path
from analytics.models import Click, DeadLetter, Kind, Segment
from common.admin import COUNT_LIMIT, CappedPaginator, ReadOnlyAdmin, one_line
from links.models import Link
from links.operators import ids_of_links

# Periods of the list without a search: it uses the first one that has COUNT_LIMIT rows.
_RECENT = timedelta(hours=1)
_SHORTER = (timedelta(minutes=1), timedelta(minutes=10))


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [(str(value), label) for value, label in Kind.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Click]) -> QuerySet[Click]:
        kind = {str(value): value for value in Kind.values}.get(self.value() or "")
        return queryset if kind is None else queryset.filter(kind=kind)


class OpenFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "open"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("1", "Not finished")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Segment]) -> QuerySet[Segment]:
        return queryset.filter(finished_at=None) if self.value() else queryset


@admin.register(Click)
class ClickAdmin(ReadOnlyAdmin):
    """The requests of the last hour, or the latest requests for one link. Clicks have indexes by link and by time."""

    list_display = [
        *("time", "link", "kind", "reason", "country", "region", "city"),
        *("device", "browser", "operating_system", "language", "short_referrer", "scanned", "branch"),
    ]
    sortable_by = ("time",)
    list_display_links = None
    paginator = CappedPaginator
    list_filter = [KindFilter]
    search_fields = ["link_id"]
    search_help_text = (
        f"Shows at most the newest {COUNT_LIMIT} requests of the last hour. "
        "Enter the whole code or id of one link to see older ones."
    )
    ordering = ["-time", "-id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Click]:
        """Annotate the short address of the link. PostgreSQL computes it only for the rows of the page."""
        links = Link.objects.filter(pk=OuterRef("link_id"))
        code = Coalesce("custom_code", "short_code")
        clicks: QuerySet[Click] = super().get_queryset(request)
        return clicks.annotate(
            address=Subquery(links.values_list(Concat(Coalesce("domain__host", Value("")), Value("/"), code)))
        )

    @admin.display
    def link(self, click: Click) -> str:
        address = click.address  # type: ignore[attr-defined] # annotated
        if address is None:
            return f"deleted link {click.link_id}"
        page = reverse("admin:links_link_change", args=[click.link_id])
        return format_html('<a href="{}">{}</a>', page, address)

    @admin.display(description="referrer")
    def short_referrer(self, click: Click) -> str:
        return one_line(click.referrer)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Click], search_term: str
    ) -> tuple[QuerySet[Click], bool]:
        if not search_term.strip():
            return _since(queryset, _start_of_recent()), False
        link_ids = ids_of_links(search_term.strip())
        if len(link_ids) > 1:
            self.message_user(
                request, "Several links have this code. Search by id instead.", messages.WARNING
            )
        if len(link_ids) != 1:
            return queryset.none(), False
        return _since(queryset.filter(link_id=link_ids[0]), _oldest_shown(link_ids[0])), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> None:
        """Disabled: without an index on the id, it would scan all clicks."""


def _since(clicks: QuerySet[Click], start: datetime) -> QuerySet[Click]:
    """Return the clicks from this time on. Only minutes have an index."""
    return clicks.filter(minute__gte=int(start.timestamp()) // 60, time__gte=start)


def _start_of_recent() -> datetime:
    """The start of the last hour, or of the shortest period that fills the list."""
    now = timezone.now()
    for period in _SHORTER:
        if _since(Click.objects.all(), now - period).values("pk")[:COUNT_LIMIT].count() == COUNT_LIMIT:
            return now - period
    return now - _RECENT


def _oldest_shown(link_id: int) -> datetime:
    """The time of the link's COUNT_LIMIT-th latest click: a bound for the rows that filters read."""
    clicks = (
        Click.objects.filter(link_id=link_id)
        .order_by("-minute", "-time", "-id")
        .values_list("time", flat=True)
    )
    return next(iter(clicks[COUNT_LIMIT - 1 : COUNT_LIMIT]), datetime(1970, 1, 1, tzinfo=UTC))


@admin.register(Segment)
class SegmentAdmin(ReadOnlyAdmin):
    """The database's rows of journal segments, with the uncounted bytes on the host that renders the page."""

    list_display = ["id", "offset", "waiting", "finished_at"]
    sortable_by = ("id",)
    list_display_links = None
    list_filter = [OpenFilter]
    ordering = ["-id"]

    @admin.display(description="backlog on this host (bytes)")
    def waiting(self, segment: Segment) -> int | None:
        try:
            size = segment_path(settings.CLICKS_DIR, segment.id).stat().st_size
        except FileNotFoundError:
            return None
        return max(0, size - segment.offset)


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin):
    """Records that could not be counted. Their content is encrypted and not shown."""

    list_display = ["created", "short_reason"]
    sortable_by = ("created",)
    list_display_links = None
    ordering = ["-id"]

    @admin.display(description="reason")
    def short_reason(self, letter: DeadLetter) -> str:
        return one_line(letter.reason)
