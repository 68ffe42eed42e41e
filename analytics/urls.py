from rest_framework.routers import SimpleRouter

from analytics.views import AnalyticsViewSet, DomainAnalyticsViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("analytics/domains", DomainAnalyticsViewSet, basename="domain-analytics")
router.register("analytics", AnalyticsViewSet, basename="analytics")
urlpatterns = router.urls
