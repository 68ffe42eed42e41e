"""What the admin pages of all apps have in common: cheap lists, and writes through services only."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.functional import cached_property

# What is listed is counted up to here, so that a page costs the same however many rows there are.
COUNT_LIMIT = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg] # generic in the stubs only
    @cached_property
    def count(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[:COUNT_LIMIT].count()


class PageFirstPaginator(CappedPaginator):
    """Finds a page by its keys, before anything is joined to the rows. For tables with an index of their key."""

    def page(self, number: Any) -> Page:  # type: ignore[type-arg] # as above
        found = super().page(number)
        rows = cast("QuerySet[Any]", self.object_list)
        found.object_list = rows.filter(pk__in=cast("QuerySet[Any]", found.object_list).values("pk"))
        return found


class OperatorAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic in the stubs only
    """A list to look at and, in place of a form, actions: on what is ticked in the list, or on the one that is open.

    Fields are read-only unless a subclass says otherwise; nothing is added or deleted.
    """

    paginator: ClassVar[type[Paginator]] = PageFirstPaginator  # type: ignore[type-arg] # as above
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    sortable_by = ()
    change_form_template = "admin/with_actions.html"
    has_form = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields or self.fields or ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only what the filters offer: any other column might be guessed at, or take long to search."""
        filters = self.get_list_filter(request)
        offered = [each if isinstance(each, str) else each.parameter_name for each in filters]  # type: ignore[union-attr]
        return any(lookup == name or lookup.startswith(f"{name}__") for name in offered)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Nothing: a form of read-only fields that is sent all the same must not write old values back."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        actions = self.get_actions(request) if object_id else {}
        act = actions.get(request.POST.get("act", ""))
        if object_id and request.method == "POST" and act is not None:
            found = self.get_object(request, object_id)
            rows = self.get_queryset(request).filter(pk=found.pk if found else None)
            answer: Any = act[0](self, request, rows)
            return answer or HttpResponseRedirect(request.get_full_path())
        buttons = [(each[1], each[2].replace(" selected", "")) for each in actions.values() if each]
        context = {"buttons": buttons, "show_save": self.has_form, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def response_action(
        self, request: HttpRequest, queryset: QuerySet[Any], *location: Any
    ) -> HttpResponse | None:
        if request.POST.get("select_across", "0") != "0":
            self.message_user(
                request, "Choose them page by page: all at once may be too many.", messages.ERROR
            )
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, *location)


class WatchedAdmin(OperatorAdmin):
    """What nobody changes here."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
