from django.urls import path
from rest_framework.routers import SimpleRouter

from analytics.report_mails.views import ReportMailViewSet
from analytics.shares.views import ShareViewSet
from analytics.tags import TagListViewSet
from analytics.views import AnalyticsViewSet, DomainAnalyticsViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
# Before the routes of links, which would match `shares` as an id.
router.register("analytics/shares", ShareViewSet, basename="share")
router.register("analytics", AnalyticsViewSet, basename="analytics")
urlpatterns = [
    # Not under /analytics, where `domains` would also match as the id of a link.
    path("domains/<str:id>/analytics", DomainAnalyticsViewSet.as_view({"get": "retrieve"})),
    path("domains/<str:id>/unknown-codes", DomainAnalyticsViewSet.as_view({"get": "unknown_codes"})),
    # Before the routes of links, which would match `report-mails` as an id.
    path("analytics/report-mails", ReportMailViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("tags", TagListViewSet.as_view({"get": "list"})),
    *router.urls,
]
