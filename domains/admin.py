from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from common.admin import OperatorAdmin
from common.errors import TooManyAttempts
from domains.advice import advice
from domains.models import Domain
from domains.proof import Check
from domains.recheck import recheck_now

# Each may take three seconds.
_AT_ONCE = 5


class FailingFilter(admin.SimpleListFilter):
    title = "checks"
    parameter_name = "failing"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("1", "Failing")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Domain]) -> QuerySet[Domain]:
        return queryset.filter(failed_checks__gt=0) if self.value() else queryset


@admin.register(Domain)
class DomainAdmin(OperatorAdmin):
    """For seeing what is amiss with a domain. Its owner proves it, and gives it up, through the API."""

    list_display = ["host", "owner", "status", "failed_checks", "next_check", "created_at"]
    list_filter = ["status", FailingFilter]
    list_select_related = ["owner"]
    search_fields = ["host", "owner__email__exact"]
    search_help_text = "A part of the name, or an owner's e-mail, whole."
    ordering = ["-id"]
    fields = [
        *("public_id", "owner", "host", "domain", "subdomain", "status"),
        *("failed_checks", "next_check", "claimed_until"),
        *("root_url", "not_found_url", "expired_url", "created_at"),
    ]
    actions = ["recheck"]

    @admin.display
    def next_check(self, domain: Domain) -> object:
        return domain.recheck_at if domain.verified else None

    @admin.action(permissions=["change"], description="Look at the DNS of selected domains now")
    def recheck(self, request: HttpRequest, domains: QuerySet[Domain]) -> None:
        chosen = list(domains[: _AT_ONCE + 1])
        if len(chosen) > _AT_ONCE:
            self.message_user(request, f"At most {_AT_ONCE} at a time.", messages.ERROR)
            return
        for domain in chosen:
            try:
                checks = recheck_now(domain)
            except TooManyAttempts as error:
                self.message_user(request, f"{domain}: {error.message}", messages.ERROR)
                return
            domain.refresh_from_db()
            self.log_change(request, domain, f"Looked at: {domain.status}.")
            for check in checks:
                level = messages.SUCCESS if check.amiss is None else messages.WARNING
                self.message_user(request, f"{domain} is {domain.status}. {_said(check)}", level)


def _said(check: Check) -> str:
    found = f"{check.type} {check.name}: {check.answer.shown}"
    return found if check.amiss is None else f"{found}. {advice(check.amiss, check.name, check.answer)}"
