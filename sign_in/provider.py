"""OpenID Connect. An identity is the pair of issuer and subject; an e-mail address identifies nobody.

allauth's registry of providers imports this module by its name.
"""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from sign_in.provider_urls import is_secure_url

PROVIDER = "oidc"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


class ProviderAdapter(OpenIDConnectOAuth2Adapter):
    @property
    def openid_config(self) -> dict[str, Any]:
        """Raises ProviderException if the configuration names another issuer (OpenID Connect Discovery 1.0, 4.3).

        Also if an endpoint is missing, or would receive the client's secret or a code without TLS.
        """
        config: Any = super().openid_config
        if not isinstance(config, dict) or config.get("issuer") != settings.OIDC_ISSUER:
            raise ProviderException("The provider's configuration names another issuer.")
        unusable = [name for name in _ENDPOINTS if not is_secure_url(config.get(name))]
        if unusable:
            raise ProviderException(f"The provider has no https URL as {', '.join(unusable)}.")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return settings.BASE_URL + reverse("oidc_callback")


class Provider(OpenIDConnectProvider):
    id = PROVIDER
    oauth2_adapter_class = ProviderAdapter
    pkce_enabled_default = True

    def get_login_url(self, request: HttpRequest, **kwargs: Any) -> str:
        return reverse("oidc_login")

    def get_callback_url(self) -> str:
        return reverse("oidc_callback")

    def extract_uid(self, data: dict[str, Any]) -> str:
        """A digest, because both texts together are longer than the column. Raises ProviderException."""
        token, user = data.get("id_token"), data.get("userinfo")
        if not token or not isinstance(subject := token.get("sub"), str) or not subject:
            raise ProviderException("The provider sent no identity.")
        if user is not None and not (isinstance(user, dict) and user.get("sub") == subject):
            # OpenID Connect Core 1.0, 5.3.2
            raise ProviderException("The identity token and the user information disagree.")
        try:
            identity = f"{token['iss']}\n{subject}".encode()
        except UnicodeEncodeError:
            # JSON can escape half of a surrogate pair, which is no character.
            raise ProviderException("The provider sent an identity that is not Unicode.") from None
        return hashlib.sha256(identity).hexdigest()

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """Adds the user's ``claims`` and the ``nonce`` of the identity token, for `identities`."""
        login = super().sociallogin_from_response(request, response)
        login.claims = {**response["id_token"], **(response.get("userinfo") or {})}
        login.nonce = response["id_token"].get("nonce")
        return login

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Store nothing else about the user."""
        return {}


provider_classes = [Provider]
