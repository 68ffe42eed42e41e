"""OpenID Connect. An identity is the pair of issuer and subject; an e-mail address identifies nobody.

allauth's registry of providers imports this module by its name.
"""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.socialaccount.models import SocialToken
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from sign_in.openid_connect.conversations import ProviderFailed
from sign_in.openid_connect.protocol import Client, Person, Response, description, identify

PROVIDER = "oidc"


class ProviderAdapter(OpenIDConnectOAuth2Adapter):
    """Runs the login of allauth with the requests of `protocol`.

    Those of allauth follow redirects, have no deadline, and trust the types and the signature of what they receive.
    """

    basic_auth = False

    @property
    def openid_config(self) -> dict[str, Any]:
        return description()

    @property
    def access_token_url(self) -> str:
        """Unused: `get_access_token_data` sends the request, and reads the configuration in its own conversation."""
        return ""

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return settings.BASE_URL + reverse("oidc_callback")

    def get_access_token_data(
        self, request: HttpRequest, app: Any, client: Any, pkce_code_verifier: str | None = None
    ) -> Person:
        response = Response(request.GET["code"], pkce_code_verifier or "", request.GET.get("iss"))
        return identify(Client(app.client_id, app.secret, self.get_callback_url(request, app)), response)

    def parse_token(self, data: Person) -> SocialToken:
        """An empty one: no token is stored."""
        return SocialToken()

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **others: Any) -> Any:
        return self.get_provider().sociallogin_from_response(request, others["response"])


class Provider(OpenIDConnectProvider):
    id = PROVIDER
    oauth2_adapter_class = ProviderAdapter
    pkce_enabled_default = True

    def get_login_url(self, request: HttpRequest, **kwargs: Any) -> str:
        return reverse("oidc_login")

    def get_callback_url(self) -> str:
        return reverse("oidc_callback")

    def extract_uid(self, data: Person) -> str:
        """A digest, because both texts together are longer than the column. Raises ProviderFailed."""
        subject = data.token["sub"]
        if not subject:
            raise ProviderFailed("The identity provider sent an empty subject.")
        try:
            identity = f"{data.token['iss']}\n{subject}".encode()
        except UnicodeEncodeError:
            # JSON can escape half of a surrogate pair, which is no character.
            raise ProviderFailed("The identity provider sent a subject that is not Unicode.") from None
        return hashlib.sha256(identity).hexdigest()

    def sociallogin_from_response(self, request: HttpRequest, response: Person) -> Any:
        """Add the ``person`` to the login, for `identities`."""
        login = super().sociallogin_from_response(request, response)
        login.person = response
        return login

    def extract_extra_data(self, data: Person) -> dict[str, Any]:
        """The address by which the owner recognises the identity on the page of the account, and nothing else."""
        email = "".join(filter(str.isprintable, data.claims.get("email") or ""))[:254]
        return {"email": email} if email else {}

    def extract_common_fields(self, data: Person) -> dict[str, Any]:
        """Return nothing: `identities` creates accounts."""
        return {}

    def extract_email_addresses(self, data: Person) -> list[Any]:
        return []


provider_classes = [Provider]
