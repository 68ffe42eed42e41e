from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin import OwnedAdmin
from common.errors import TooManyAttempts
from domains.models import Domain
from domains.verification import Check, advice, recheck_now

# Each check may take three seconds.
_MAX_CHECKS = 5


class FailingFilter(admin.SimpleListFilter):
    title = "checks"
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("1", "Failing")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Domain]) -> QuerySet[Domain]:
        return queryset.filter(failed_checks__gt=0) if self.value() else queryset


@admin.register(Domain)
class DomainAdmin(OwnedAdmin):
    """Shows the problems of a domain. Its owner verifies and deletes it through the API."""

    list_display = ["host", "owner", "status", "failed_checks", "next_check", "created"]
    sortable_by = ("created",)
    list_filter = ["status", FailingFilter]
    list_select_related = ["owner__account"]
    search_fields = ["host", "owner__account__email__exact"]
    search_help_text = "Part of the name, or an owner's whole e-mail address."
    ordering = ["-id"]
    fields = [
        *("public_id", "owner", "host", "domain", "subdomain", "status"),
        *("failed_checks", "next_check", "claimed_until"),
        *("root_url", "not_found_url", "expired_url", "pages", "created_at"),
    ]
    actions = ["recheck"]

    @admin.display
    def next_check(self, domain: Domain) -> object:
        return domain.recheck_at if domain.verified else None

    @admin.action(permissions=["change"], description="Check the DNS of selected domains now")
    def recheck(self, request: HttpRequest, domains: QuerySet[Domain]) -> None:
        selected = list(domains[: _MAX_CHECKS + 1])
        if len(selected) > _MAX_CHECKS:
            self.message_user(request, f"Select at most {_MAX_CHECKS} domains.", messages.ERROR)
            return
        for domain in selected:
            try:
                checks = recheck_now(domain)
            except TooManyAttempts as error:
                self.message_user(request, f"{domain}: {error.message}", messages.ERROR)
                return
            domain.refresh_from_db()
            self.log_change(request, domain, f"DNS checked: {domain.status}.")
            for check in checks:
                level = messages.SUCCESS if check.problem is None else messages.WARNING
                self.message_user(request, f"{domain} is {domain.status}. {_result(check)}", level)


def _result(check: Check) -> str:
    record = f"{check.type} {check.name}: {check.answer.shown}"
    return record if check.problem is None else f"{record}. {advice(check)}"
