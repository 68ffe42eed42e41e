"""The API of keys with scopes, each of which may be limited to a domain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts import api_keys
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, session_of, workspace_of
from accounts.models import Workspace
from accounts.rights import Role
from accounts.sessions.lifecycle import require_recent_login
from common.errors import NotFound
from common.ids import parse_public_id
from common.rest.access import Access
from common.rest.pagination import PageQuery, pagination_of
from common.rest.returns import returns
from domains.keys.representations import key_object, new_key_object, represent_key, represent_keys
from domains.keys.schema import PAGINATION, describe_keys
from domains.keys.serializers import CreateKeySerializer, RotateKeySerializer, UpdateKeySerializer
from domains.models import Domain


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
                domains = Domain.objects.visible_to(owner).select_for_update(no_key=True)
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
    access = dict.fromkeys(
        ("list", "create", "partial_update", "destroy", "rotate"), Access(Role.VIEWER, None)
    )

    @returns(200, keys=[key_object], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        parameters = self.read_query()
        page = api_keys.list_keys(**_reader(request), **parameters)
        return {"keys": represent_keys(page.rows), "pagination": pagination_of(page, parameters)}

    @returns(201, "Key created successfully.", key=new_key_object)
    def create(self, request: Request) -> dict[str, Any]:
        workspace, fields = workspace_of(request), self.read_body()
        require_recent_login(session_of(request))
        with locked_domain(workspace, fields):
            key, text = api_keys.create_key(workspace=workspace, creator=account_of(request), **fields)
        return {"key": {**represent_key(key), "apiKey": text}}

    @returns(200, "Key updated successfully.", key=key_object)
    def partial_update(self, request: Request, id: UUID) -> dict[str, Any]:
        changes = self.read_body()
        with locked_domain(workspace_of(request), changes):
            key = api_keys.change_key(
                **_reader(request), public_id=id, changes=changes, session=session_of(request)
            )
        return {"key": represent_key(key)}

    @action(detail=True, methods=["post"])
    @returns(200, "Key rotated successfully.", key=new_key_object)
    def rotate(self, request: Request, id: UUID) -> dict[str, Any]:
        grace = self.read_body().get("grace_seconds", 0)
        require_recent_login(session_of(request))
        key, text = api_keys.rotate_key(**_reader(request), public_id=id, grace_seconds=grace)
        return {"key": {**represent_key(key), "apiKey": text}}

    @returns(200, "Key deleted successfully.")
    def destroy(self, request: Request, id: UUID) -> None:
        api_keys.delete_key(**_reader(request), public_id=id)


def _reader(request: Request) -> dict[str, Any]:
    role = cast(Role, cast(Caller, request.auth).role)
    return {"workspace": workspace_of(request), "account": account_of(request), "role": role}
