from rest_framework.routers import SimpleRouter

from links.views import LinkViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("urls", LinkViewSet, basename="link")
urlpatterns = router.urls
