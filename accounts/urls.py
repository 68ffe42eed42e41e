from rest_framework.routers import SimpleRouter

from accounts.views import ApiKeyViewSet, TokenViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("auth", TokenViewSet, basename="token")
router.register("auth", ApiKeyViewSet, basename="api-key")
urlpatterns = router.urls
