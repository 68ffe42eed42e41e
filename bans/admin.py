"""The operators' pages of bans."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import CharField, ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from bans import services
from bans.hosts import canonical_host
from bans.models import Ban
from bans.services import Affected
from common.admin import OperatorAdmin, one_line
from common.errors import InvalidFields
from common.http.urls import MAX_RAW_LENGTH


class BanForm(ModelForm):  # type: ignore[type-arg] # generic in the stubs only
    # Longer than the column: a pasted URL is reduced to its host.
    host = CharField(
        max_length=MAX_RAW_LENGTH,
        required=False,
        widget=AdminTextInputWidget,
        help_text="A host name, an IP address or a URL. The ban includes all subdomains of the host.",
    )

    @property
    def subject(self) -> str:
        """Identifies what a valid form bans."""
        owner = self.cleaned_data["owner"]
        return str(owner.pk if owner else self.cleaned_data["host"])

    def clean_host(self) -> str | None:
        host = self.cleaned_data["host"]
        try:
            return canonical_host(host) if host else None
        except InvalidFields as error:
            raise ValidationError([field_error.message for field_error in error.errors]) from None

    def clean(self) -> dict[str, Any]:
        super().clean()
        fields = self.cleaned_data
        if not self.errors and bool(fields.get("host")) == bool(fields.get("owner")):
            raise ValidationError("Enter either a host or an account.")
        return fields


class BanListAdmin(OperatorAdmin):
    """A list of bans. Deleting a ban lifts it."""

    def lift(self, ban: Any) -> None:
        raise NotImplementedError

    @admin.display(description="reason")
    def short_reason(self, ban: Any) -> str:
        return one_line(ban.reason)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.lift(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for ban in queryset:
            self.lift(ban)


class BanAdmin(BanListAdmin):
    """Bans hosts and accounts, after a page that says how many links and accounts the ban affects.

    The app of the links registers a subclass that counts them.
    """

    form = BanForm
    has_form = True
    list_display = ["subject", "short_reason", "created"]
    sortable_by = ("subject", "created")
    list_select_related = ["owner__account"]
    search_fields = ["host", "owner__account__email"]
    ordering = ["-id"]
    fields = ["host", "owner", "reason"]
    raw_id_fields = ["owner"]

    def affected_by(self, ban: Ban) -> Affected | None:
        """Count what the unsaved ban would affect. None if that takes too long."""
        raise NotImplementedError

    @admin.display(description="ban of", ordering="host")
    def subject(self, ban: Ban) -> str:
        return f"account {ban.owner}" if ban.owner else f"host {ban.host}"

    def lift(self, ban: Ban) -> None:
        services.lift_ban(ban=ban)

    def get_readonly_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[str]:
        return [] if obj is None else ["host", "owner", "reason", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "POST" and self.has_add_permission(request):
            form = cast(BanForm, self.get_form(request)(request.POST))
            if form.is_valid() and request.POST.get("confirmed") != form.subject:
                return self._confirmation(request, form)
        return super().add_view(request, form_url, extra_context)

    def save_model(self, request: HttpRequest, obj: Ban, form: BanForm, change: bool) -> None:
        if obj.owner:
            ban = services.ban_account(owner=obj.owner, reason=obj.reason)
        else:
            ban = services.ban_host(host=obj.host or "", reason=obj.reason)
        obj.pk = ban.pk

    def _confirmation(self, request: HttpRequest, form: BanForm) -> HttpResponse:
        ban = form.instance
        buttons = {name: "1" for name in ("_addanother", "_continue", "_popup") if name in request.POST}
        context = {
            **self.admin_site.each_context(request),
            "title": "Confirm the ban",
            "opts": self.opts,
            "ban": ban,
            "affected": self.affected_by(ban),
            "hidden": {
                "host": ban.host or "",
                "owner": ban.owner_id or "",
                "reason": ban.reason,
                "confirmed": form.subject,
                **buttons,
            },
        }
        return TemplateResponse(request, "admin/confirm_ban.html", context)
