"""A reader of the documentation: an account, and the objects of its own that requests of the description are about."""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import Any

from rest_framework.test import APIClient

from accounts.models import Workspace
from accounts.rights import Role
from domains.representations import EXAMPLE_JWK
from testing.accounts.accounts import PASSWORD, account, key_client, log_in, token_client
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.domains.dns_server import DnsServer
from testing.domains.domains import publish

# Of objects by the beginning of the path; the longest decides.
_OBJECTS = {
    "/api/analytics/shares": "share",
    "/api/auth/sessions": "session",
    "/api/domains": "domain",
    "/api/keys": "key",
    "/api/qr-codes": "qr_code",
    "/api/qr-designs": "design",
    "/api/tag-changes": "tag_change",
    "/api/token-issuers": "token_issuer",
    "/api/urls": "url_id",
    "/api/urls/{id}/undelete": "deleted_url",
    "/api/utm-templates": "template",
    "/api/views": "view",
    "/api/webhooks": "webhook",
    "/api/workspaces": "workspace_id",
}
_numbers = count(1)


class Reader:
    """Each property makes an object when it is first read, so that any request has what it needs, in any order.

    ``dns``, if given, gets the records of the reader's domain.
    """

    def __init__(self, dns: DnsServer | None = None) -> None:
        self._dns = dns
        name = self._name = f"reader-{next(_numbers)}"
        self.account = account(f"{name}@example.com", plan="pro")
        self.api = key_client(self.account.api_key)

    def value(self, path: str, variable: str) -> str:
        """What the reader puts in place of a variable of the samples (``x-sampleVariables``) of an operation."""
        if variable == "ID":
            beginning = max((each for each in _OBJECTS if path.startswith(each)), key=len)
            return str(getattr(self, _OBJECTS[beginning]))
        return str(getattr(self, variable.lower()))

    password = current_password = PASSWORD
    # A free one, and a day before all visits.
    code = "spring"
    before = "2020-01-01"

    @property
    def email(self) -> str:
        return self.account.user.email

    @property
    def api_key(self) -> str:
        return self.account.api_key

    @cached_property
    def access_token(self) -> str:
        return log_in(self.account.user).access

    @cached_property
    def refresh_token(self) -> str:
        return log_in(self.account.user).refresh

    @cached_property
    def bearer(self) -> APIClient:
        return token_client(self.access_token)

    @cached_property
    def link(self) -> dict[str, Any]:
        body = {"originalUrl": "https://example.com/page", "tags": ["sale", "old"]}
        return self._made("/api/urls", "url", body)

    @cached_property
    def url_id(self) -> str:
        return self.link["_id"]

    @cached_property
    def short_url(self) -> str:
        return self.link["shortUrl"]

    @property
    def name(self) -> str:
        """Of a tag."""
        return self.link["tags"][0]

    @cached_property
    def deleted_url(self) -> str:
        assert self.api.delete(f"/api/urls/{self.url_id}").status_code == 200
        return self.url_id

    @cached_property
    def change_id(self) -> str:
        assert self.api.put(f"/api/urls/{self.url_id}", {"title": "Spring"}).status_code == 200
        return self.api.get(f"/api/urls/{self.url_id}/history").json()["data"]["changes"][0]["_id"]

    @cached_property
    def tag_change(self) -> str:
        return self.api.delete(f"/api/tags/{self.link['tags'][1]}").json()["data"]["change"]["_id"]

    @cached_property
    def share(self) -> str:
        return self._made("/api/analytics/shares", "share", {"urlId": self.url_id})["_id"]

    @cached_property
    def qr_code(self) -> str:
        return self._made("/api/qr-codes", "qrCode", {"urlId": self.url_id})["_id"]

    @cached_property
    def design(self) -> str:
        return self._made("/api/qr-designs", "design", {"name": "Mine"})["_id"]

    @cached_property
    def template(self) -> str:
        return self._made("/api/utm-templates", "template", {"name": "Mine"})["_id"]

    @cached_property
    def view(self) -> str:
        return self._made("/api/views", "view", {"name": "Mine", "filters": {}})["_id"]

    @cached_property
    def domain(self) -> str:
        made = self._made("/api/domains", "domain", {"domain": f"{self._name}.example"})
        if self._dns is not None:
            publish(self._dns, made)
        return made["_id"]

    @cached_property
    def webhook(self) -> str:
        body = {"name": "Shop", "types": ["link.created"], "url": "https://example.com/"}
        return self._made("/api/webhooks", "webhook", body)["_id"]

    @cached_property
    def delivery_id(self) -> str:
        path = f"/api/webhooks/{self.webhook}/test"
        return self._made(path, "delivery", {"type": "link.created"})["_id"]

    @cached_property
    def session(self) -> str:
        log_in(self.account.user)
        sessions = self.bearer.get("/api/auth/sessions").json()["data"]["sessions"]
        return next(each["_id"] for each in sessions if not each["isCurrent"])

    @cached_property
    def key(self) -> str:
        return self._made("/api/keys", "key", {"name": "Mine", "scopes": ["urls:read"]}, self.bearer)["_id"]

    @cached_property
    def token_issuer(self) -> str:
        body = {
            "name": "Mine",
            "issuer": "https://issuer.test-reader.com",
            "audience": "https://sho.rt",
            "subject": "job:of:*",
            "jwks": {"keys": [EXAMPLE_JWK]},
            "scopes": ["urls:read"],
        }
        return self._made("/api/token-issuers", "issuer", body, self.bearer)["_id"]

    @cached_property
    def workspace_id(self) -> str:
        return str(self._team.public_id)

    @cached_property
    def member_id(self) -> str:
        colleague = account(f"colleague-of-{self._name}@example.com")
        return str(add_member(self._team, colleague, Role.VIEWER).user.public_id)

    @cached_property
    def invitation_id(self) -> str:
        path = f"/api/workspaces/{self.workspace_id}/invitations"
        return self._made(path, "invitation", {"role": "viewer"})["_id"]

    @cached_property
    def invitation_token(self) -> str:
        """Of somebody else's workspace."""
        host = account(f"host-of-{self._name}@example.com")
        workspace = team(host)
        client = key_client_in(workspace, host.api_key)
        path = f"/api/workspaces/{workspace.public_id}/invitations"
        return self._made(path, "invitation", {"role": "viewer"}, client)["token"]

    @cached_property
    def _team(self) -> Workspace:
        return team(self.account)

    def _made(
        self, path: str, name: str, body: dict[str, Any], client: APIClient | None = None
    ) -> dict[str, Any]:
        response = (client or self.api).post(path, body)
        assert response.status_code == 201, response.content
        made: dict[str, Any] = response.json()["data"][name]
        return made
