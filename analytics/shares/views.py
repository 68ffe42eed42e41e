from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.callers import caller_of, workspace_of
from accounts.password_hashing import admit_password_of_account
from accounts.rights import Role, Scope
from analytics.shares import services
from analytics.shares.representations import ADDRESS, share
from analytics.shares.schema import describe_shares
from analytics.shares.serializers import CreateShareSerializer, UpdateShareSerializer
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns


@describe_shares
class ShareViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    access = {
        "list": Access(Role.VIEWER, Scope.ANALYTICS_READ, limited=True),
        "retrieve": Access(Role.VIEWER, Scope.ANALYTICS_READ, limited=True),
        "create": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "partial_update": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True),
    }
    bodies = {"create": CreateShareSerializer, "partial_update": UpdateShareSerializer}

    @returns(200, shares=[share])
    def list(self, request: Request) -> dict[str, Any]:
        return {"shares": [share(listed) for listed in services.list_shares(workspace_of(request))]}

    @idempotent
    @returns(201, "Report shared successfully.", share=share, address=ADDRESS)
    def create(self, request: Request) -> dict[str, Any]:
        owner, fields = workspace_of(request), self.read_body()
        with admit_password_of_account(caller_of(request).id, fields):
            made = services.create_share(owner=owner, **fields)
        return {"share": share(made.listed), "address": services.address_of(made.token)}

    @returns(200, share=share)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"share": share(services.get_share(workspace_of(request), id))}

    @returns(200, "Share updated successfully.", share=share)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        changes = self.read_body()
        with admit_password_of_account(caller_of(request).id, changes):
            changed = services.change_share(owner=workspace_of(request), public_id=id, changes=changes)
        return {"share": share(changed)}

    @returns(200, "Share revoked successfully.")
    def destroy(self, request: Request, id: str) -> None:
        services.delete_share(owner=workspace_of(request), public_id=id)
