"""The pages under /reports/: shared reports, and the end of reports by mail."""

from django.urls import path, register_converter

from analytics.report_mails.pages import unsubscribe
from analytics.shares.page import show_file, show_page
from analytics.shares.services import TOKEN_PATTERN


class ShareTokenConverter:
    """Only well-formed tokens reach the database; the router returns 404 for all others."""

    regex = TOKEN_PATTERN

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(ShareTokenConverter, "share_token")
urlpatterns = [
    path("unsubscribe/<str:token>", unsubscribe),
    path("<share_token:token>", show_page),
    path("<share_token:token>.csv", show_file),
]
