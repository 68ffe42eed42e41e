from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.openapi.responses import Representation, public_id
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.health.schema import describe_checks
from links.health.serializers import CheckSerializer
from links.health.services import request_checks

_REQUESTED = Representation("RequestedCheck", public_id("019a9e3c-5d2f-7c41-9b1e-2f6d0c8a4b75"))


@describe_checks
class CheckViewSet(ApiViewSet):
    access = {"check": Access(Role.EDITOR, Scope.URLS_WRITE, limited=True)}
    bodies = {"check": CheckSerializer}

    @action(detail=False, methods=["post"])
    @returns(202, "1 check requested.", urls=[_REQUESTED])
    def check(self, request: Request) -> dict[str, Any]:
        links = request_checks(workspace_of(request), self.read_body()["ids"])
        return {"urls": [{"_id": str(link)} for link in links]}
