from django.urls import path
from rest_framework.routers import SimpleRouter

from accounts.history.views import AuditViewSet
from accounts.views import AccountViewSet, ApiKeyViewSet, ProfileViewSet, SessionViewSet, TokenViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("auth/sessions", SessionViewSet, basename="session")
router.register("auth", TokenViewSet, basename="token")
router.register("auth", ApiKeyViewSet, basename="api-key")
router.register("auth", AccountViewSet, basename="account")
router.register("audit", AuditViewSet, basename="audit")
urlpatterns = [
    path("auth/me", ProfileViewSet.as_view({"get": "retrieve", "patch": "partial_update"}), name="profile"),
    *router.urls,
]
