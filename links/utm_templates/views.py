from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.api_requests.idempotency import idempotent
from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.utm_templates import services
from links.utm_templates.representations import utm_template
from links.utm_templates.schema import describe_utm_templates
from links.utm_templates.serializers import CreateUtmTemplateSerializer, UpdateUtmTemplateSerializer


@describe_utm_templates
class UtmTemplateViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    access = {
        "list": Access(Role.VIEWER, Scope.URLS_READ),
        "retrieve": Access(Role.VIEWER, Scope.URLS_READ),
        "create": Access(Role.EDITOR, Scope.URLS_WRITE),
        "partial_update": Access(Role.EDITOR, Scope.URLS_WRITE),
        "destroy": Access(Role.EDITOR, Scope.URLS_WRITE),
    }
    bodies = {"create": CreateUtmTemplateSerializer, "partial_update": UpdateUtmTemplateSerializer}

    @returns(200, templates=[utm_template])
    def list(self, request: Request) -> dict[str, Any]:
        templates = services.list_templates(workspace_of(request))
        return {"templates": [utm_template(template) for template in templates]}

    @idempotent
    @returns(201, "UTM template created successfully.", template=utm_template)
    def create(self, request: Request) -> dict[str, Any]:
        template = services.create_template(owner=workspace_of(request), **self.read_body())
        return {"template": utm_template(template)}

    @returns(200, template=utm_template)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        return {"template": utm_template(services.get_template(workspace_of(request), id))}

    @returns(200, "UTM template updated successfully.", template=utm_template)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        template = services.change_template(
            owner=workspace_of(request), public_id=id, changes=self.read_body()
        )
        return {"template": utm_template(template)}

    @returns(200, "UTM template deleted successfully.")
    def destroy(self, request: Request, id: str) -> None:
        services.delete_template(owner=workspace_of(request), public_id=id)
