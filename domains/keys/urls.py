from rest_framework.routers import SimpleRouter

from domains.keys.views import KeyViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("keys", KeyViewSet, basename="key")
urlpatterns = router.urls
