"""What every API view shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common.errors import LengthRequired

_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ApiViewSet(ViewSet):
    # OPTIONS is for CORS preflights, which the middleware answers; the endpoints are described at /api/schema.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # What the throttle has to tell.
    rate_headers: Mapping[str, str] = {}

    def perform_authentication(self, request: Request) -> None:
        """Limits hold for a bad credential and for none at all, too: DRF would refuse those before it counts them."""
        refusal = None
        try:
            super().perform_authentication(request)
        except AuthenticationFailed as error:
            refusal = error
        super().check_throttles(request)
        if refusal is not None:
            raise refusal

    def check_throttles(self, request: Request) -> None:
        """Asked already."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in _WRITES:
            if "HTTP_TRANSFER_ENCODING" in request.META:
                # WSGI gives no length for such a body, and Django takes it for an empty one.
                raise LengthRequired
            # A broken body is refused even where the endpoint reads none of it.
            _ = request.data

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        final["Cache-Control"] = "no-store"
        final["X-Content-Type-Options"] = "nosniff"
        # A narrower limit that has refused stands there already.
        for name, value in self.rate_headers.items():
            final.headers.setdefault(name, value)
        return final
