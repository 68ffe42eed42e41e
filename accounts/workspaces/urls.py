from django.urls import path

from accounts.workspaces.views import AcceptanceViewSet, InvitationViewSet, MemberViewSet, WorkspaceViewSet

_ONE = "workspaces/<str:id>"
urlpatterns = [
    path("workspaces", WorkspaceViewSet.as_view({"get": "list", "post": "create"})),
    path(_ONE, WorkspaceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"})),
    path(f"{_ONE}/members", MemberViewSet.as_view({"get": "list"})),
    path(
        f"{_ONE}/members/<uuid:memberId>",
        MemberViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
    ),
    path(f"{_ONE}/invitations", InvitationViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{_ONE}/invitations/<uuid:invitationId>", InvitationViewSet.as_view({"delete": "destroy"})),
    path("invitations/<str:token>/accept", AcceptanceViewSet.as_view({"post": "create"})),
]
