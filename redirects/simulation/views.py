"""Simulates a visit of a link."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.decorators import action
from rest_framework.fields import ChoiceField
from rest_framework.request import Request

from accounts.callers import workspace_of
from accounts.rights import Role, Scope
from common.openapi.error_examples import invalid
from common.openapi.operations import Operation, describe, name_choices
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.returns import returns
from links.selectors import get_link
from links.serializer_fields import CountryField, DeviceField
from redirects.checks import ORDER
from redirects.simulation.serializers import (
    METHODS,
    OUTCOME,
    STEPS,
    AddressField,
    MethodField,
    SimulationSerializer,
    TimeField,
    simulation,
)
from redirects.simulation.services import simulate

name_choices("SimulationCheck", ORDER)
name_choices("VisitMethod", METHODS)
extend_schema_field(ChoiceField(METHODS))(MethodField)

describe_simulation = describe(
    "Links",
    of="URL",
    simulate=Operation(
        "simulateUrl",
        "Explain where a visit of a short link would end, and why.",
        "Each check in its order, and the response that the visitor would get.",
        description="Describes a visitor, and applies the checks of a real visit. All fields are optional. It counts,"
        " claims and records nothing. The list of steps ends with the check that decides a refusal: later checks are"
        " not reached and not listed. A redirect to `notStartedUrl` or `expiredUrl` is a refusal with a location.",
        examples=[
            {
                "country": "DE",
                "device": "mobile",
                "language": "de-DE,de;q=0.9",
                "time": "2030-03-01T09:30:00Z",
            },
            {},
        ],
        errors=[
            invalid("address", "address", str(AddressField.default_error_messages["address"])),
            invalid("method", "method", str(MethodField.default_error_messages["method"])),
            invalid("country", "country", str(CountryField.default_error_messages["country"])),
            invalid("time", "out_of_range", str(TimeField.default_error_messages["out_of_range"])),
            invalid("device", "device", str(DeviceField.default_error_messages["device"])),
        ],
    ),
)


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
