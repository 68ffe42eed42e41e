"""The API of domains, and of keys with scopes and token issuers, each of which may be limited to a domain.

`tls_allowed` tells Caddy for which names it may request certificates (on-demand TLS).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import Error, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from rest_framework.decorators import action
from rest_framework.request import Request

from accounts import api_keys
from accounts.api_requests.idempotency import idempotent
from accounts.api_requests.token_only import TokenOnlyViewSet
from accounts.callers import Caller, account_of, session_of, workspace_of
from accounts.models import Workspace
from accounts.rights import Role, Scope
from accounts.sessions.lifecycle import require_recent_login
from accounts.token_issuers import services as token_issuers
from common.errors import NotFound
from common.host.metrics import count_database_error
from common.http.client_address import LOOPBACK, is_internal_client
from common.http.urls import canonical_host, is_address
from common.ids import find_by_public_id
from common.rest.access import Access
from common.rest.api import ApiViewSet
from common.rest.pagination import PageQuery
from common.rest.returns import returns
from domains import representations, selectors, services
from domains.models import Domain
from domains.representations import (
    key_object,
    new_key_object,
    represent_issuer,
    represent_key,
    represent_keys,
    token_issuer,
)
from domains.schema import (
    ISSUER_PAGINATION,
    KEY_PAGINATION,
    PAGINATION,
    describe_domains,
    describe_issuers,
    describe_keys,
)
from domains.selectors import active_domain
from domains.serializers import (
    ClaimSerializer,
    CreateKeySerializer,
    CreateTokenIssuerSerializer,
    ListQuery,
    RotateKeySerializer,
    SettingsSerializer,
    UpdateKeySerializer,
    UpdateTokenIssuerSerializer,
)
from domains.services import change_settings


def _deleted(dropped: int) -> str:
    deleted = "Domain deleted successfully."
    if dropped == 0:
        return deleted
    were = "1 custom code was" if dropped == 1 else f"{dropped} custom codes were"
    return f"{deleted} {were} already taken on the default domain and dropped."


@describe_domains
class DomainViewSet(ApiViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "str"
    queries = {"list": ListQuery}
    access = {
        "list": Access(Role.VIEWER, Scope.DOMAINS_READ, limited=True),
        "create": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "retrieve": Access(Role.VIEWER, Scope.DOMAINS_READ, limited=True),
        "partial_update": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "verify": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
        "destroy": Access(Role.ADMIN, Scope.DOMAINS_WRITE),
    }
    bodies = {"create": ClaimSerializer, "partial_update": SettingsSerializer}

    @returns(200, domains=[representations.listed_domain], pagination=PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        owner, parameters = workspace_of(request), self.read_query()
        if not parameters:
            return {"domains": list(map(representations.listed_domain, Domain.objects.visible_to(owner)))}
        window = self.window(parameters)
        page = selectors.list_domains(owner, window)
        domains = list(map(representations.listed_domain, page.rows))
        return {"domains": domains, "pagination": self.paginate(page, window)}

    @idempotent
    @returns(201, "Domain added successfully.", domain=representations.whole_domain)
    def create(self, request: Request) -> dict[str, Any]:
        domain = services.claim_domain(owner=workspace_of(request), **self.read_body())
        return {"domain": representations.whole_domain(domain)}

    @returns(200, domain=representations.domain_with_settings)
    def retrieve(self, request: Request, id: str) -> dict[str, Any]:
        domain = selectors.get_domain(workspace_of(request), id)
        return {"domain": representations.domain_with_settings(domain)}

    @returns(200, "Domain updated successfully.", domain=representations.domain_with_settings)
    def partial_update(self, request: Request, id: str) -> dict[str, Any]:
        urls = self.read_body()
        pages, app_links = urls.pop("pages", {}), urls.pop("app_links", {})
        codes: dict[str, Any] = {
            name: urls.pop(name) for name in ("code_length", "code_alphabet") if name in urls
        }
        domain = change_settings(
            owner=workspace_of(request),
            public_id=id,
            urls=urls,
            pages=pages,
            codes=codes,
            app_links=app_links,
        )
        return {"domain": representations.domain_with_settings(domain)}

    @action(detail=True, methods=["post"])
    @returns(200, "Domain verified successfully.", domain=representations.verified_domain)
    def verify(self, request: Request, id: str) -> dict[str, Any]:
        domain = services.verify_domain(owner=workspace_of(request), public_id=id)
        return {"domain": representations.verified_domain(domain)}

    @returns(200, _deleted(2))
    def destroy(self, request: Request, id: str) -> dict[str, Any]:
        dropped = services.delete_domain(owner=workspace_of(request), public_id=id)
        return {"message": _deleted(dropped)}


@contextmanager
def locked_domain(owner: Workspace, fields: dict[str, Any]) -> Iterator[None]:
    """Replace the API id in ``domain_id``, if any, by the primary key of the domain, and lock the domain.

    The lock comes before that of the key, as in a deletion of the domain. Raises NotFound for a domain of others.
    """
    with transaction.atomic():
        if fields.get("domain_id") is not None:
            domains = Domain.objects.visible_to(owner).select_for_update(no_key=True)
            domain = find_by_public_id(domains, fields["domain_id"])
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

    @returns(200, keys=[key_object], pagination=KEY_PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        window = self.window(self.read_query())
        page = api_keys.list_keys(**_reader(request), window=window)
        return {"keys": represent_keys(page.rows), "pagination": self.paginate(page, window)}

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


@describe_issuers
class TokenIssuerViewSet(TokenOnlyViewSet):
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_converter = "uuid"
    bodies = {"create": CreateTokenIssuerSerializer, "partial_update": UpdateTokenIssuerSerializer}
    queries = {"list": PageQuery}
    # What such a key does, nobody does in person, so it is the workspace's.
    access = dict.fromkeys(
        ("list", "create", "retrieve", "partial_update", "destroy"), Access(Role.ADMIN, None)
    )

    @returns(200, issuers=[token_issuer], pagination=ISSUER_PAGINATION)
    def list(self, request: Request) -> dict[str, Any]:
        window = self.window(self.read_query())
        page = token_issuers.list_issuers(**_reader(request), window=window)
        return {"issuers": represent_keys(page.rows, token_issuer), "pagination": self.paginate(page, window)}

    @returns(201, "Token issuer added successfully.", issuer=token_issuer)
    def create(self, request: Request) -> dict[str, Any]:
        workspace, fields = workspace_of(request), self.read_body()
        require_recent_login(session_of(request))
        token_issuers.check_issuer(fields)
        with locked_domain(workspace, fields):
            key = token_issuers.create_issuer(workspace=workspace, creator=account_of(request), **fields)
        return {"issuer": represent_issuer(key)}

    @returns(200, issuer=token_issuer)
    def retrieve(self, request: Request, id: UUID) -> dict[str, Any]:
        return {"issuer": represent_issuer(token_issuers.get_issuer(**_reader(request), public_id=id))}

    @returns(200, "Token issuer updated successfully.", issuer=token_issuer)
    def partial_update(self, request: Request, id: UUID) -> dict[str, Any]:
        changes = self.read_body()
        former = token_issuers.get_issuer(**_reader(request), public_id=id)
        source = {name: changes.get(name, getattr(former, name)) for name in ("issuer", "jwks")}
        if source != {"issuer": former.issuer, "jwks": former.jwks}:
            require_recent_login(session_of(request))
            token_issuers.check_issuer(source)
        with locked_domain(workspace_of(request), changes):
            key = token_issuers.change_issuer(
                **_reader(request), public_id=id, changes=changes, session=session_of(request)
            )
        return {"issuer": represent_issuer(key)}

    @returns(200, "Token issuer deleted successfully.")
    def destroy(self, request: Request, id: UUID) -> None:
        token_issuers.delete_issuer(**_reader(request), public_id=id)


@require_safe
def tls_allowed(request: HttpRequest) -> HttpResponse:
    """Return 200 for the service's own hosts and active domains, otherwise 404.

    Strangers must not make the proxy request certificates. Only internal callers get an answer: outside callers
    could learn which names are customers'.
    """
    host = canonical_host(request.GET.get("domain", ""))
    is_inside = is_internal_client(request.META, [*LOOPBACK, *settings.TRUSTED_PROXIES])
    if not is_inside or host is None or is_address(host):
        raise Http404
    try:
        is_allowed = host in settings.BASE_HOSTS or active_domain(host) is not None
    except Error:
        count_database_error("page")
        return HttpResponse(status=503, headers={"Retry-After": "2"})
    if not is_allowed:
        raise Http404
    return HttpResponse("yes\n", "text/plain", headers={"Cache-Control": "no-store"})
