"""Base classes of all API views."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, cached_property
from typing import Any, cast

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSet

from common.errors import InvalidFields, LengthRequired
from common.http.current_request import SERVICE, Actor, actor
from common.pages import Page, Window
from common.rest.access import Access
from common.rest.deprecation import deprecation_of
from common.rest.envelope import add_warnings, attach_warnings, warn
from common.rest.pagination import Pagination, link_header, links_of, pagination_of, window_of
from common.rest.unknown_fields import (
    Closed,
    Handling,
    NoFields,
    SerializerType,
    prefers_representation,
    prefers_strict,
    refuse_repeated,
)

_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@cache
def _shared(serializer: SerializerType) -> Serializer[Any]:
    """One instance for all threads: a serializer copies all its fields, which takes longer than validating them.

    Serializers of queries and bodies therefore keep no state of a request.
    """
    return serializer()


def _next_page(response: Response) -> Mapping[str, str]:
    """The cursor of a list without numbered pages."""
    # Files have none.
    body = getattr(response, "data", None)
    data = body.get("data") if isinstance(body, dict) else None
    pagination = data.get("pagination") if isinstance(data, dict) else None
    cursor = pagination.get("nextCursor") if isinstance(pagination, dict) else None
    return {} if cursor is None else {"next": cursor}


class ApiViewSet(ViewSet):
    # OPTIONS serves only CORS preflights, which the middleware handles; /api/schema describes the endpoints.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # The serializers of the query and of the body, by action. An action without one reads nothing of it.
    queries: Mapping[str, SerializerType] = {}
    bodies: Mapping[str, SerializerType] = {}
    # Who may call each action. An action without an entry refuses everybody.
    access: Mapping[str, Access] = {}
    # Whether the authentication accepts keys.
    takes_keys = True
    # Whether the path names the workspace by ``id``, instead of the header.
    has_workspace_in_path = False
    # Headers that the throttle sets.
    rate_headers: Mapping[str, str] = {}
    # Cursors of the pages next to the one in the response, by their relation.
    page_links: Mapping[str, str] = {}
    # Resources to release at the end of the request.
    request_stack: ExitStack

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        # Closed when the view has returned or raised.
        with ExitStack() as self.request_stack:
            return super().dispatch(request, *args, **kwargs)

    def before_body(self, request: Request) -> None:
        """Called after authentication, permission checks and throttling, and before the body is parsed."""

    def perform_authentication(self, request: Request) -> None:
        """Count the request even if its credential is invalid: DRF would reject it before the throttle."""
        refusal = None
        try:
            super().perform_authentication(request)
        except AuthenticationFailed as error:
            refusal = error
        super().check_throttles(request)
        if refusal is not None:
            raise refusal
        authenticator, caller = cast("Any", request.successful_authenticator), cast("Any", request.auth)
        who = SERVICE
        if authenticator is not None:
            key = None if caller.key is None else caller.key.public_id
            account = None if caller.account is None else caller.account.pk
            who = Actor(account, authenticator.via, key, caller.token)
        self.request_stack.callback(actor.reset, actor.set(who))

    def check_throttles(self, request: Request) -> None:
        """Do nothing: `perform_authentication` has already counted the request."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.before_body(request)
        if request.method in _WRITES:
            if "HTTP_TRANSFER_ENCODING" in request.META:
                # WSGI provides no length for such a body, and Django treats it as empty.
                raise LengthRequired
            # Reject a malformed body even if the endpoint reads none of it.
            _ = request.data
            if "HTTP_IDEMPOTENCY_KEY" in request.META and not self._takes_idempotency_key():
                warn(request, "Idempotency-Key", "ignored", "This call ignores the header.")
        if self.action is not None:
            self._check_unread(request)

    def _takes_idempotency_key(self) -> bool:
        return hasattr(getattr(self, self.action or "", None), "idempotency_errors")

    def _check_unread(self, request: Request) -> None:
        """Check the names in a query or body that the action does not read."""
        reads_body = self.action in self.bodies
        # Without a query, only to say whether the preference was applied: most requests have neither.
        has_query = request.META.get("QUERY_STRING") or (not reads_body and "HTTP_PREFER" in request.META)
        if has_query and self.action not in self.queries:
            self._read(NoFields, request.query_params.dict(), "parameter")
        if not reads_body and request.method in _WRITES:
            self._read(NoFields, request.data, "field")

    def read_query(self) -> dict[str, Any]:
        """The validated parameters, by `queries`. Raises InvalidFields."""
        serializer, parameters = self.queries[self.action], self.request.query_params
        if issubclass(serializer, Closed):
            refuse_repeated(parameters)
        return self._read(serializer, parameters.dict(), "parameter")

    def window(self, parameters: dict[str, Any]) -> Window:
        """The part of the list that the request asks for, taken out of the parameters of a `PageQuery`."""
        return window_of(self.request, parameters)

    def paginate(self, page: Page[Any], window: Window) -> Pagination:
        """The object ``pagination``; the response gets a ``Link`` header to the pages next to this one."""
        self.page_links = links_of(self.request, page, window)
        return pagination_of(page, window)

    def read_body(self) -> dict[str, Any]:
        """The validated fields, by `bodies`. Raises InvalidFields."""
        return self._fields

    def read_body_about(self, find: Callable[[], object]) -> dict[str, Any]:
        """`read_body`, for an object that ``find`` looks up: what is missing matters only if there is such an object.

        Raises InvalidFields or what ``find`` raises.
        """
        try:
            return self.read_body()
        except InvalidFields as error:
            if all(broken.code == "required" for broken in error.errors):
                find()
            raise

    @cached_property
    def _fields(self) -> dict[str, Any]:
        # Once for each request: reading them again would repeat the warnings.
        return self._read(self.bodies[self.action], self.request.data, "field")

    @cached_property
    def handling(self) -> Handling:
        return Handling(is_strict=prefers_strict(self.request.META.get("HTTP_PREFER", "")))

    @cached_property
    def prefers_representation(self) -> bool:
        """Whether the response to a write shall have the whole object (``return=representation``, RFC 7240)."""
        return prefers_representation(self.request.META.get("HTTP_PREFER", ""))

    def _read(self, serializer: SerializerType, data: Any, noun: str) -> dict[str, Any]:
        """``data`` is a dict, as the parsers and queries return it."""
        handling = self.handling
        if serializer is NoFields and not data:
            # Nearly every request. The serializer would take a thirtieth of its time.
            return {}
        fields, warnings = handling.read(_shared(serializer), data, noun=noun)
        if warnings:
            add_warnings(self.request, warnings)
        return fields

    def _name_applied_preferences(self, response: Response) -> None:
        """A repeated request with an Idempotency-Key applies none: it gets the stored response."""
        decided = self.__dict__
        applied = [
            *(["handling=strict"] if "handling" in decided and self.handling.is_strict else []),
            *(["return=representation"] if decided.get("prefers_representation") else []),
        ]
        if applied:
            response["Preference-Applied"] = ", ".join(applied)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        final: Response = super().finalize_response(request, response, *args, **kwargs)
        attach_warnings(request, final)
        final["Cache-Control"] = "no-store"
        final["X-Content-Type-Options"] = "nosniff"
        if "HTTP_PREFER" in request.META:
            self._name_applied_preferences(final)
        if links := self.page_links or _next_page(final):
            final["Link"] = link_header(request, links)
        if (deprecation := deprecation_of(self, self.action)) is not None:
            for name, value in deprecation.headers.items():
                final[name] = f"{final[name]}, {value}" if name == "Link" and "Link" in final else value
        # Keep the headers of a narrower limit that rejected the request.
        for name, value in self.rate_headers.items():
            final.headers.setdefault(name, value)
        return final
