from django.urls import path
from rest_framework.routers import SimpleRouter

from accounts.request_log.views import RequestLogViewSet
from accounts.views import (
    AcceptanceViewSet,
    AccountViewSet,
    ApiKeyViewSet,
    AuditViewSet,
    InvitationViewSet,
    MemberViewSet,
    ProfileViewSet,
    SessionViewSet,
    TokenViewSet,
    WorkspaceViewSet,
)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("auth/sessions", SessionViewSet, basename="session")
router.register("auth", TokenViewSet, basename="token")
router.register("auth", ApiKeyViewSet, basename="api-key")
router.register("auth", AccountViewSet, basename="account")
router.register("audit", AuditViewSet, basename="audit")
router.register("requests", RequestLogViewSet, basename="request")
_WORKSPACE = "workspaces/<str:id>"
urlpatterns = [
    path("auth/me", ProfileViewSet.as_view({"get": "retrieve", "patch": "partial_update"}), name="profile"),
    path("auth/me/export", ProfileViewSet.as_view({"get": "export"})),
    *router.urls,
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
    path(
        _WORKSPACE,
        WorkspaceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path(f"{_WORKSPACE}/members", MemberViewSet.as_view({"get": "list"})),
    path(
        f"{_WORKSPACE}/members/<uuid:memberId>",
        MemberViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
    ),
    path(f"{_WORKSPACE}/invitations", InvitationViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{_WORKSPACE}/invitations/<uuid:invitationId>", InvitationViewSet.as_view({"delete": "destroy"})),
    path("invitations/<str:token>/accept", AcceptanceViewSet.as_view({"post": "create"})),
]
