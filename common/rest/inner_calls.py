"""Calls of the API's actions by views with a protocol of their own.

Such a call is a request of the same caller in every respect: permissions, limits of keys, quotas, idempotency, history
and warnings are those of the API, because the API's own view answers. Only the credential is not checked again, and
the request counts once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from common.errors import BadBody, LengthRequired
from common.rest.api import ApiViewSet
from common.rest.strict_json import MAX_BODY_BYTES

# What the outer request says about its own body and response.
_OF_OUTER_REQUEST = frozenset({
    *("HTTP_ACCEPT", "HTTP_CONTENT_ENCODING", "HTTP_IDEMPOTENCY_KEY", "HTTP_PREFER"),
    *("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_TRANSFER_ENCODING"),
})  # fmt: skip


class HasCredential(BasePermission):
    """Which actions the caller may use, each of them decides when it is called."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.auth is not None


class CallingView(ApiViewSet):
    """Authenticates and counts a request as the API does; its methods use `Action.call`.

    Methods without an action get 405, whoever asks.
    """

    permission_classes = [HasCredential]

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        # Errors have the form of the protocol, whatever else the client accepts.
        request.META.pop("HTTP_ACCEPT", None)
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if self.action is None:
            raise MethodNotAllowed(request.method or "")
        APIView.initial(self, request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META:
            _read_chunks(request)


def _read_chunks(request: Request) -> None:
    """Give the request a length: clients that this service did not choose send bodies in chunks.

    Django reads none of such a body. Raises BadBody, or LengthRequired if the server cannot tell its end, either.
    """
    inner, meta = cast(Any, request._request), request.META
    if not meta.get("wsgi.input_terminated"):
        raise LengthRequired
    try:
        body = meta["wsgi.input"].read(MAX_BODY_BYTES + 1)
    except Exception:
        # Each WSGI server has errors of its own for what is no chunk, and for a body that ends early.
        raise BadBody("The request body is not complete, or not in valid chunks.") from None
    meta["CONTENT_LENGTH"] = str(len(body))
    # What Django itself sets when it has read a body.
    inner._body, inner._read_started, inner._stream = body, True, BytesIO(body)


class Action(NamedTuple):
    """An action of the API: ``path`` is that of its route, such as ``/api/urls/{id}``."""

    view: type[ApiViewSet]
    name: str
    method: str
    path: str

    def call(
        self,
        request: Request,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        **path: str,
    ) -> Response:
        """The response of the action to the caller of ``request``, which a `CallingView` has authenticated.

        Errors are responses, too. ``headers`` have the names of WSGI, such as ``HTTP_PREFER``. ``path`` has the
        parts of the path by name.
        """
        # Not orjson: it rejects numbers with too many digits, which the action refuses in its own words.
        content = b"" if body is None else _encoded(body)
        meta = {name: value for name, value in request.META.items() if name not in _OF_OUTER_REQUEST}
        meta |= {
            "REQUEST_METHOD": self.method.upper(),
            "PATH_INFO": self.path.format(**{name: quote(value, safe="") for name, value in path.items()}),
            "QUERY_STRING": urlencode(query or {}),
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": BytesIO(content),
            **(headers or {}),
        }
        view = cast(
            Callable[..., Response],
            self.view.as_view(
                {self.method: self.name},
                authentication_classes=[lambda: _SameCaller(request)],
                # The outer request has been counted.
                throttle_classes=[],
            ),
        )
        return view(WSGIRequest(meta), **path)


def _encoded(body: Mapping[str, Any]) -> bytes:
    """As short as what the client sent, which the limit of a body allowed."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class _SameCaller(BaseAuthentication):
    def __init__(self, request: Request) -> None:
        self._request = request
        self.via = cast(Any, request.successful_authenticator).via

    def authenticate(self, request: Request) -> tuple[Any, Any]:
        return self._request.user, self._request.auth
