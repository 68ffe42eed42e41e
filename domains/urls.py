from rest_framework.routers import SimpleRouter

from domains.views import DomainViewSet, KeyViewSet, TokenIssuerViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("domains", DomainViewSet, basename="domain")
router.register("keys", KeyViewSet, basename="key")
router.register("token-issuers", TokenIssuerViewSet, basename="token-issuer")
urlpatterns = router.urls
