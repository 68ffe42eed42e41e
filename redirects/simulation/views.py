from __future__ import annotations

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.selectors import get_link
from redirects.simulation.representations import OUTCOME, STEPS, simulation
from redirects.simulation.schema import describe_simulation
from redirects.simulation.serializers import SimulationSerializer
from redirects.simulation.services import simulate


@describe_simulation
class SimulationViewSet(ApiViewSet):
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    access = {"simulate": Access(Role.VIEWER, Scope.URLS_READ, limited=True)}
    bodies = {"simulate": SimulationSerializer}

    @action(detail=True, methods=["post"])
    @returns(200, fields=(STEPS, OUTCOME))
    def simulate(self, request: Request, id: str) -> dict[str, Any]:
        visit = self.read_body()
        link = get_link(workspace_of(request), id)
        return simulation(simulate(link, **visit))
