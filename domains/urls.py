from rest_framework.routers import SimpleRouter

from domains.views import DomainViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("domains", DomainViewSet, basename="domain")
urlpatterns = router.urls
