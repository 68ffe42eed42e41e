"""Django's admin with a front page of today's figures, and its login."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.second_factor import lacks_second_factor
from analytics.journal.backlog import backlog
from analytics.journal.drops import dropped_clicks
from analytics.reports.activity import today, waiting
from common.host.limited_warnings import untrusted_proxy_addresses
from dashboard import brand_style
from domains.selectors import count_by_status
from links.selectors import installation_totals
from pages.responses import page
from sign_in.safe_urls import is_own_page


@require_safe
def login(request: HttpRequest) -> HttpResponse:
    """Redirect to the login. Show an account that is logged in why the admin refuses it."""
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not is_own_page(target):
        target = reverse("admin:index")
    if not request.user.is_authenticated:
        return HttpResponseRedirect(f"{reverse('account_login')}?{urlencode({REDIRECT_FIELD_NAME: target})}")
    if not (request.user.is_active and request.user.is_staff):
        return page(request, "sign_in/no_operator.html", {}, status=403)
    if lacks_second_factor(request.user):
        return HttpResponseRedirect(reverse("mfa_index"))
    return HttpResponseRedirect(target)


class Figure(NamedTuple):
    name: str
    value: int


class OperatorSite(AdminSite):
    index_title = "Today"
    index_template = "admin/figures.html"
    site_url = None

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        name = settings.BRAND_NAME or "URL shortener"
        context = super().each_context(request)
        return {**context, "site_header": name, "site_title": name, "brand_style": brand_style.url()}

    def has_permission(self, request: HttpRequest) -> bool:
        if not super().has_permission(request):
            return False
        return isinstance(request.user, User) and not lacks_second_factor(request.user)

    def password_change(  # type: ignore[override] # the stubs allow no redirect
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponseRedirect:
        """Redirect to the page under /accounts/, which counts wrong passwords. Django's does not."""
        return HttpResponseRedirect(reverse("account_change_password"))

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return super().index(request, {**(extra_context or {}), "problems": _problems(), "groups": _groups()})


def _problems() -> list[str]:
    return [
        f"X-Forwarded-For from {address} is ignored, because the address is not in TRUSTED_PROXIES (on this host, "
        "within the last hour). If it is the address of a proxy, all its visitors share one limit."
        for address in untrusted_proxy_addresses()
    ]


def _groups() -> dict[str, list[Figure]]:
    links, day, host, rest = installation_totals(), today(), backlog(settings.CLICKS_DIR), waiting()
    return {
        "Links": [
            Figure("links", links.links),
            Figure("active links", links.active_links),
            Figure("clicks in total", links.clicks),
        ],
        "Today (UTC)": [
            Figure("clicks", day.clicks),
            Figure("unique clicks", day.unique_clicks),
            Figure("refused", day.refused),
            Figure("not counted (HEAD, prefetches, crawlers)", day.not_counted),
            Figure("requests for unknown codes", day.unknown_codes),
        ],
        "Domains": [Figure(status, number) for status, number in count_by_status().items()],
        "Clicks to be counted": [
            Figure("journal backlog of this host (bytes)", host.waiting),
            Figure("damaged segments of this host", host.damaged),
            Figure("clicks dropped by this host", dropped_clicks()),
            Figure("pending records in the database", rest.pending),
            Figure("records that cannot be counted", rest.dead_letters),
        ],
    }
