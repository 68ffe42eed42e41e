"""The API of keys with scopes, each of which may be limited to a domain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, session_of, workspace_of
from accounts.models import Workspace
from accounts.rights.roles import Role
from accounts.scoped_keys import selectors, services
from accounts.sessions.browser import require_recent_login
from common.errors import NotFound
from common.ids import parse_public_id
from common.rest.envelope import ok
from common.rest.pagination import PageQuery, pagination_of
from domains.keys.representations import represent_key, represent_keys
from domains.keys.schema import describe_keys
from domains.keys.serializers import CreateKeySerializer, RotateKeySerializer, UpdateKeySerializer
from domains.selectors import domains_of


@contextmanager
def locked_domain(owner: Workspace, fields: dict[str, Any]) -> Iterator[None]:
    """Replace the API id in ``domain_id``, if any, by the primary key of the domain, and lock the domain.

    The lock comes before that of the key, as in a deletion of the domain. Raises NotFound for a domain of others.
    """
    with transaction.atomic():
        if fields.get("domain_id") is not None:
            identifier = parse_public_id(fields["domain_id"])
            domain = None
            if identifier is not None:
                domains = domains_of(owner).select_for_update(no_key=True)
                domain = domains.filter(public_id=identifier).first()
            if domain is None:
                raise NotFound("Domain not found.")
            fields["domain_id"] = domain.pk
        yield


@describe_keys
class KeyViewSet(TokenOnlyViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    # With "str", a GET of a path below would match and get a 405 instead of a 404.
    lookup_value_converter = "uuid"
    bodies = {
        "create": CreateKeySerializer,
        "partial_update": UpdateKeySerializer,
        "rotate": RotateKeySerializer,
    }
    queries = {"list": PageQuery}
    # A key has at most the role of its creator, so every member may create some.
    roles = dict.fromkeys(("list", "create", "partial_update", "destroy", "rotate"), Role.VIEWER)

    def list(self, request: Request) -> Response:
        parameters = self.read_query()
        page = selectors.list_keys(**_reader(request), **parameters)
        return ok({"keys": represent_keys(page.rows), "pagination": pagination_of(page, parameters)})

    def create(self, request: Request) -> Response:
        workspace, fields = workspace_of(request), self.read_body()
        require_recent_login(session_of(request))
        with locked_domain(workspace, fields):
            key, text = services.create_key(workspace=workspace, creator=account_of(request), **fields)
        data = {"key": {**represent_key(key), "apiKey": text}}
        return ok(data, "Key created successfully.", status=201)

    def partial_update(self, request: Request, id: UUID) -> Response:
        changes = self.read_body()
        with locked_domain(workspace_of(request), changes):
            key = services.change_key(**_reader(request), public_id=id, changes=changes)
        return ok({"key": represent_key(key)}, "Key updated successfully.")

    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, id: UUID) -> Response:
        grace = self.read_body().get("grace_seconds", 0)
        require_recent_login(session_of(request))
        key, text = services.rotate_key(**_reader(request), public_id=id, grace_seconds=grace)
        return ok({"key": {**represent_key(key), "apiKey": text}}, "Key rotated successfully.")

    def destroy(self, request: Request, id: UUID) -> Response:
        services.delete_key(**_reader(request), public_id=id)
        return ok(message="Key deleted successfully.")


def _reader(request: Request) -> dict[str, Any]:
    role = cast(Role, cast(Caller, request.auth).role)
    return {"workspace": workspace_of(request), "account": account_of(request), "role": role}
