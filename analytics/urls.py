from rest_framework.routers import SimpleRouter

from analytics.views import AnalyticsViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("analytics", AnalyticsViewSet, basename="analytics")
urlpatterns = router.urls
