"""Every route with what each role and each scope may do there. A new route needs a row."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.invitations import invite
from accounts.models import Workspace
from accounts.rights import Role, Scope
from accounts.services import NewAccount
from accounts.token_issuers.services import create_issuer
from domains.models import Domain
from domains.representations import EXAMPLE_JWK
from testing.accounts.accounts import account
from testing.accounts.keys import scoped_key
from testing.accounts.workspaces import add_member, key_client_in, team, token_client_in
from testing.cases import for_each
from testing.contract.every_route import UNKNOWN_ID
from testing.error_bodies import without_request_id

LINK = {"originalUrl": "https://example.com/"}
WEBHOOK = {"name": "Shop", "types": ["link.created"], "url": "https://example.com/hooks"}
TOKEN_ISSUER = {
    "name": "Deploy",
    "issuer": "https://issuer.example",
    "audience": "https://sho.rt",
    "subject": "repo:acme/site:*",
    "jwks": {"keys": [EXAMPLE_JWK]},
    "scopes": ["urls:read"],
}
# Looks like an id, so that statements with it equal those with an unknown one.
TAG = "01890000-0000-7000-8000-00000000cafe"
_VALUES = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|\\x[0-9a-f]+|\d+")
VIEWER, EDITOR, ADMIN, OWNER = Role


class Row(NamedTuple):
    """The least role, or None if any account may call the route, and the status that it then gets.

    ``scope`` is required of keys with scopes. None: the route refuses them. ``also``: another one is required, too.
    """

    role: Role | None
    status: int
    body: dict[str, Any] | None = None
    is_public: bool = False
    scope: Scope | None = None
    also: Scope | None = None


# The values of a body are replaced by the ids of the fixture's objects, if they name one.
TABLE = {
    "POST /api/auth/login": Row(None, 400, {}, is_public=True),
    "POST /api/auth/refresh": Row(None, 400, {}, is_public=True),
    "GET /api/schema": Row(None, 200, is_public=True),
    "GET /api/docs": Row(None, 200, is_public=True),
    "GET /api/": Row(None, 200, is_public=True),
    "GET /api/docs/guide": Row(None, 200, is_public=True),
    "GET /api/docs/guide/{name}": Row(None, 404, is_public=True),
    "GET /api/docs/operations": Row(None, 200, is_public=True),
    "GET /api/docs/operations/{name}": Row(None, 404, is_public=True),
    "GET /api/docs/errors": Row(None, 200, is_public=True),
    "GET /api/docs/errors/{code}": Row(None, 404, is_public=True),
    "GET /api/auth/api-key": Row(None, 200),
    "POST /api/auth/regenerate-api-key": Row(None, 200, {}),
    "GET /api/auth/me": Row(None, 200),
    "PATCH /api/auth/me": Row(None, 200, {}),
    "GET /api/auth/me/export": Row(None, 200),
    "POST /api/auth/change-password": Row(None, 400, {}),
    "POST /api/auth/logout": Row(None, 200, {}),
    "GET /api/auth/sessions": Row(None, 200),
    "DELETE /api/auth/sessions/{id}": Row(None, 404, {}),
    "GET /api/workspaces": Row(None, 200),
    "POST /api/workspaces": Row(None, 201, {"name": "Another"}),
    "GET /api/workspaces/{id}": Row(VIEWER, 200, scope=Scope.MEMBERS_READ),
    "PATCH /api/workspaces/{id}": Row(ADMIN, 200, {"name": "Renamed"}, scope=Scope.MEMBERS_WRITE),
    "DELETE /api/workspaces/{id}": Row(OWNER, 409, {}),
    "GET /api/workspaces/{id}/members": Row(VIEWER, 200, scope=Scope.MEMBERS_READ),
    "PATCH /api/workspaces/{id}/members/{memberId}": Row(
        ADMIN, 200, {"role": "viewer"}, scope=Scope.MEMBERS_WRITE
    ),
    "DELETE /api/workspaces/{id}/members/{memberId}": Row(ADMIN, 200, {}, scope=Scope.MEMBERS_WRITE),
    "GET /api/workspaces/{id}/invitations": Row(ADMIN, 200, scope=Scope.MEMBERS_READ),
    "POST /api/workspaces/{id}/invitations": Row(ADMIN, 201, {"role": "viewer"}, scope=Scope.MEMBERS_WRITE),
    "DELETE /api/workspaces/{id}/invitations/{invitationId}": Row(ADMIN, 200, {}, scope=Scope.MEMBERS_WRITE),
    "POST /api/invitations/{token}/accept": Row(None, 404, {}),
    "GET /api/keys": Row(VIEWER, 200),
    "POST /api/keys": Row(VIEWER, 201, {"name": "Another", "scopes": ["urls:read"]}),
    "PATCH /api/keys/{id}": Row(VIEWER, 200, {"name": "Renamed"}),
    "DELETE /api/keys/{id}": Row(VIEWER, 200, {}),
    "POST /api/keys/{id}/rotate": Row(VIEWER, 200, {}),
    "GET /api/token-issuers": Row(ADMIN, 200),
    "POST /api/token-issuers": Row(ADMIN, 201, TOKEN_ISSUER),
    "GET /api/token-issuers/{id}": Row(ADMIN, 200),
    "PATCH /api/token-issuers/{id}": Row(ADMIN, 200, {"name": "Renamed"}),
    "DELETE /api/token-issuers/{id}": Row(ADMIN, 200, {}),
    "GET /api/urls": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls": Row(EDITOR, 201, LINK, scope=Scope.URLS_WRITE),
    "GET /api/urls/{id}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "PUT /api/urls/{id}": Row(EDITOR, 200, {"title": "x"}, scope=Scope.URLS_WRITE),
    "PATCH /api/urls/{id}": Row(EDITOR, 200, {"title": "y"}, scope=Scope.URLS_WRITE),
    "DELETE /api/urls/{id}": Row(EDITOR, 200, {}, scope=Scope.URLS_WRITE),
    "POST /api/urls/{id}/duplicate": Row(EDITOR, 201, {}, scope=Scope.URLS_WRITE, also=Scope.URLS_READ),
    "PUT /api/urls/upsert": Row(EDITOR, 200, {**LINK, "externalId": "a"}, scope=Scope.URLS_WRITE),
    "GET /api/urls/exists": Row(VIEWER, 400, scope=Scope.URLS_READ),
    "GET /api/urls/resolve": Row(VIEWER, 400, scope=Scope.URLS_READ),
    "GET /api/audit": Row(ADMIN, 200),
    "GET /api/requests": Row(ADMIN, 200),
    "GET /api/urls/{id}/history": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls/{id}/history/{changeId}/restore": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "GET /api/urls/deleted": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls/{id}/undelete": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "POST /api/urls/{id}/simulate": Row(VIEWER, 200, {}, scope=Scope.URLS_READ),
    "POST /api/urls/bulk": Row(EDITOR, 200, {"urls": [LINK]}, scope=Scope.URLS_WRITE),
    "POST /api/urls/bulk-update": Row(
        EDITOR, 200, {"ids": ["link"], "data": {"title": "x"}}, scope=Scope.URLS_WRITE
    ),
    "POST /api/urls/bulk-delete": Row(EDITOR, 200, {"ids": ["link"]}, scope=Scope.URLS_WRITE),
    "POST /api/urls/check": Row(EDITOR, 202, {"ids": ["link"]}, scope=Scope.URLS_WRITE),
    # Into the personal workspace of the caller.
    "POST /api/urls/move": Row(EDITOR, 200, {"ids": ["link"], "workspaceId": "own"}, scope=Scope.URLS_MOVE),
    "POST /api/urls/import": Row(
        EDITOR, 200, {"content": "originalUrl\nhttps://example.com/\n"}, scope=Scope.URLS_WRITE
    ),
    "GET /api/urls/export": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/urls/sealed-export": Row(ADMIN, 200, {"passphrase": "twelve white horses"}),
    "POST /api/urls/bulk-export": Row(VIEWER, 200, {"ids": ["link"]}, scope=Scope.URLS_READ),
    "GET /api/urls/count": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/urls/stats": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/urls/domains/available": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/utm-templates": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/utm-templates": Row(EDITOR, 201, {"name": "New"}, scope=Scope.URLS_WRITE),
    "GET /api/utm-templates/{id}": Row(VIEWER, 404, scope=Scope.URLS_READ),
    "PATCH /api/utm-templates/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "DELETE /api/utm-templates/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "GET /api/tags": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/tags/{name}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "PATCH /api/tags/{name}": Row(EDITOR, 200, {"name": "renamed"}, scope=Scope.URLS_WRITE),
    "DELETE /api/tags/{name}": Row(EDITOR, 200, {}, scope=Scope.URLS_WRITE),
    "GET /api/tag-changes": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "GET /api/tag-changes/{id}": Row(VIEWER, 404, scope=Scope.URLS_READ),
    "POST /api/tag-changes/{id}/undo": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "GET /api/views": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/views": Row(EDITOR, 201, {"name": "New", "filters": {}}, scope=Scope.URLS_WRITE),
    "GET /api/views/{id}": Row(VIEWER, 404, scope=Scope.URLS_READ),
    "PATCH /api/views/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "DELETE /api/views/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "GET /api/domains": Row(VIEWER, 200, scope=Scope.DOMAINS_READ),
    "POST /api/domains": Row(ADMIN, 201, {"domain": "new.example"}, scope=Scope.DOMAINS_WRITE),
    "GET /api/domains/{id}": Row(VIEWER, 200, scope=Scope.DOMAINS_READ),
    "PATCH /api/domains/{id}": Row(ADMIN, 200, {}, scope=Scope.DOMAINS_WRITE),
    "DELETE /api/domains/{id}": Row(ADMIN, 200, {}, scope=Scope.DOMAINS_WRITE),
    # Another account has verified the name, so there is no DNS query.
    "POST /api/domains/{id}/verify": Row(ADMIN, 409, {}, scope=Scope.DOMAINS_WRITE),
    "POST /api/domains/{id}/move": Row(ADMIN, 200, {"workspaceId": "own"}),
    "GET /api/domains/{id}/analytics": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/domains/{id}/unknown-codes": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/clicks": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/sparklines": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/report-mails": Row(VIEWER, 200),
    "PUT /api/analytics/report-mails": Row(VIEWER, 200, {"weekly": False}),
    "GET /api/analytics/shares": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "POST /api/analytics/shares": Row(EDITOR, 404, {"urlId": UNKNOWN_ID}, scope=Scope.URLS_WRITE),
    "GET /api/analytics/shares/{id}": Row(VIEWER, 404, scope=Scope.ANALYTICS_READ),
    "PATCH /api/analytics/shares/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "DELETE /api/analytics/shares/{id}": Row(EDITOR, 404, {}, scope=Scope.URLS_WRITE),
    "GET /api/analytics/{urlId}": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "DELETE /api/analytics/{urlId}": Row(EDITOR, 400, {}, scope=Scope.URLS_WRITE),
    "GET /api/analytics/{urlId}/devices": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}/geographic": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/analytics/{urlId}/clicks": Row(VIEWER, 200, scope=Scope.ANALYTICS_READ),
    "GET /api/events": Row(ADMIN, 200, scope=Scope.WEBHOOKS_WRITE),
    "GET /api/events/feed": Row(ADMIN, 200, scope=Scope.WEBHOOKS_WRITE),
    "PUT /api/events/feed": Row(ADMIN, 200, {"types": []}, scope=Scope.WEBHOOKS_WRITE),
    "GET /api/webhooks": Row(ADMIN, 200, scope=Scope.WEBHOOKS_WRITE),
    "POST /api/webhooks": Row(ADMIN, 201, WEBHOOK, scope=Scope.WEBHOOKS_WRITE),
    "GET /api/webhooks/{id}": Row(ADMIN, 200, scope=Scope.WEBHOOKS_WRITE),
    "PATCH /api/webhooks/{id}": Row(ADMIN, 200, {"name": "Renamed"}, scope=Scope.WEBHOOKS_WRITE),
    "DELETE /api/webhooks/{id}": Row(ADMIN, 200, {}, scope=Scope.WEBHOOKS_WRITE),
    "POST /api/webhooks/{id}/test": Row(ADMIN, 201, {}, scope=Scope.WEBHOOKS_WRITE),
    "POST /api/webhooks/{id}/rotate-secret": Row(ADMIN, 200, {}, scope=Scope.WEBHOOKS_WRITE),
    "GET /api/webhooks/{id}/deliveries": Row(ADMIN, 200, scope=Scope.WEBHOOKS_WRITE),
    "POST /api/webhooks/{id}/deliveries/{deliveryId}/resend": Row(ADMIN, 201, {}, scope=Scope.WEBHOOKS_WRITE),
    "POST /api/webhooks/{id}/replay": Row(
        ADMIN, 200, {"from": "2026-01-05T09:30:00Z"}, scope=Scope.WEBHOOKS_WRITE
    ),
    "GET /api/qr-codes": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/qr-codes": Row(EDITOR, 201, {"urlId": "link"}, scope=Scope.QR_WRITE),
    "GET /api/qr-codes/{id}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "DELETE /api/qr-codes/{id}": Row(EDITOR, 200, {}, scope=Scope.QR_WRITE),
    "GET /api/qr-codes/{id}/file": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/qr-codes/sheet": Row(VIEWER, 200, {"urlIds": ["link"]}, scope=Scope.URLS_READ),
    "GET /api/qr-designs": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "POST /api/qr-designs": Row(EDITOR, 201, {"name": "Another"}, scope=Scope.QR_WRITE),
    "GET /api/qr-designs/{id}": Row(VIEWER, 200, scope=Scope.URLS_READ),
    "PUT /api/qr-designs/{id}": Row(EDITOR, 200, {"name": "Renamed"}, scope=Scope.QR_WRITE),
    "DELETE /api/qr-designs/{id}": Row(EDITOR, 200, {}, scope=Scope.QR_WRITE),
}


class Site(NamedTuple):
    """A workspace with an object of each kind, and a member of any role."""

    ids: dict[str, str]
    member: NewAccount
    clients: dict[str, APIClient]

    def call(self, client: APIClient, name: str) -> Any:
        """Nothing of the call remains in the database."""
        method, path = name.split()
        for part in (
            "{id}",
            "{urlId}",
            "{memberId}",
            "{invitationId}",
            "{token}",
            "{changeId}",
            "{deliveryId}",
            "{name}",
            "{code}",
        ):
            path = path.replace(part, self.ids.get(_kind(path, part), UNKNOWN_ID))
        with transaction.atomic():
            response = client.generic(method, path, _body(TABLE[name].body, self.ids), "application/json")
            transaction.set_rollback(True)
        if response.streaming:
            # An export keeps its place until its response has been read.
            b"".join(response.streaming_content)
        return response


def _kind(path: str, part: str) -> str:
    if part == "{id}":
        return path.split("/")[2]
    return part


def _body(body: dict[str, Any] | None, ids: dict[str, str]) -> bytes:
    if body is None:
        return b""
    text = json.dumps(body).replace('"link"', json.dumps(ids.get("urls", UNKNOWN_ID)))
    return text.replace('"own"', json.dumps(ids.get("own", UNKNOWN_ID))).encode()


@pytest.fixture
def site(alice: NewAccount, stranger: NewAccount) -> Site:
    workspace = team(alice)
    owner = key_client_in(workspace, alice.api_key)
    link = owner.post("/api/urls", {**LINK, "tags": [TAG]}).json()["data"]["url"]["_id"]
    domain = Domain.objects.create(owner=workspace, domain="brand.example", host="brand.example")
    Domain.objects.create(
        owner=stranger.workspace, domain="brand.example", host="brand.example", status="active"
    )
    code = owner.post("/api/qr-codes", {"urlId": link}).json()["data"]["qrCode"]["_id"]
    design = owner.post("/api/qr-designs", {"name": "Posters"}).json()["data"]["design"]["_id"]
    webhook = owner.post("/api/webhooks", WEBHOOK).json()["data"]["webhook"]["_id"]
    delivery = owner.post(f"/api/webhooks/{webhook}/test", {}).json()["data"]["delivery"]["_id"]
    third = account("third@example.com")
    add_member(workspace, third, Role.EDITOR)
    member = account("member@example.com", plan="pro")
    invitation = invite(workspace=workspace, inviter=alice.user, role=Role.VIEWER).invitation
    return Site(
        {
            "workspaces": str(workspace.public_id),
            "urls": link,
            "{urlId}": link,
            "domains": str(domain.public_id),
            "qr-codes": code,
            "qr-designs": design,
            "webhooks": webhook,
            "{deliveryId}": delivery,
            "{name}": TAG,
            "{memberId}": str(third.user.public_id),
            "{invitationId}": str(invitation.public_id),
            "own": str(member.user.public_id),
        },
        member,
        {
            "key": key_client_in(workspace, member.api_key),
            "token": token_client_in(workspace, member.user),
        },
    )


def join(site: Site, role: Role) -> Site:
    """The site with its member in the workspace, who has a key there."""
    workspace = Workspace.objects.get(name="Team")
    add_member(workspace, site.member, role)
    key = scoped_key(workspace, site.member.user, Scope.URLS_READ).key
    issuer = create_issuer(
        workspace=workspace,
        creator=workspace.members.get(role=Role.OWNER, user__email="alice@example.com").user,
        **{**TOKEN_ISSUER, "subject": "repo:acme/site:pull_request"},
    )
    ids = {"keys": str(key.public_id), "token-issuers": str(issuer.public_id)}
    return site._replace(ids=site.ids | ids)


FOR_EVERY_ROW = for_each("name", sorted(TABLE))


def outcome(site: Site, client: APIClient, name: str) -> tuple[int, bytes, list[str]]:
    """The response, and the statements without ids, numbers, times and digests."""
    with CaptureQueriesContext(connection) as queries:
        response = site.call(client, name)
    statements = [_VALUES.sub("?", query["sql"]) for query in queries]
    return response.status_code, without_request_id(response), statements
