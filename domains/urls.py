from rest_framework.routers import SimpleRouter

from domains.views import DomainViewSet, KeyViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("domains", DomainViewSet, basename="domain")
router.register("keys", KeyViewSet, basename="key")
urlpatterns = router.urls
