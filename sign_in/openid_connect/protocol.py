"""Reads what the OpenID provider says: its description, its keys, and the claims about a person.

Follows OpenID Connect Core 1.0 (Core), OpenID Connect Discovery 1.0 (Discovery), RFC 6749 and RFC 9207. Whatever the
provider sends is checked before it is used, and violations raise ProviderFailed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote_plus, urlencode

import jwt
from allauth.socialaccount.providers.base import ProviderException
from django.conf import settings
from django.core.cache import cache
from django.urls import reverse

from common.jwks import Keys, find_key, read_keys
from sign_in.openid_connect.conversations import Conversation, ProviderFailed, converse
from sign_in.safe_urls import is_secure_url

# Asymmetric ones only: nobody but the provider has a key that signs.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
CACHE_SECONDS = 600
# A failed request for the description is not repeated sooner, so that logins in the meantime wait for nothing.
FAILURE_SECONDS = 5
# An unknown key id causes at most one request for the keys in this time.
NEW_KEYS_SECONDS = 30
# The clocks of the provider and of this host may differ by as much.
_CLOCK_SECONDS = 60

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
_IN_FORM = "client_secret_post"
_TEXTS = ("email", "given_name", "family_name")
# RFC 6749, A.12
_ACCESS_TOKEN = re.compile(r"[\x20-\x7e]+", re.ASCII)
_ERROR_CODE = re.compile(r"[a-z_]{1,50}", re.ASCII)


class LoginRefused(ProviderException):
    """The browser did not bring what this login needs, or the provider does not accept it."""


@dataclass(frozen=True, slots=True)
class Client:
    """This service, as the provider knows it."""

    id: str
    secret: str
    redirect_uri: str


@dataclass(frozen=True, slots=True)
class Response:
    """What the provider sent through the browser, and the secret that this service has kept for it (PKCE)."""

    code: str
    verifier: str
    issuer: str | None


@dataclass(frozen=True, slots=True)
class Person:
    """``claims`` are those of ``token`` and of the user information. ``logout`` ends the session at the provider."""

    token: dict[str, Any]
    claims: dict[str, Any]
    logout: str | None


def description() -> dict[str, Any]:
    """The provider's configuration, at most CACHE_SECONDS old."""
    config = _known_description()
    return converse(_describe) if config is None else config


def identify(client: Client, response: Response) -> Person:
    """Redeem the code for a verified token and the user information. Raises LoginRefused or ProviderFailed."""
    return converse(lambda conversation: _identify(conversation, client, response))


def _identify(conversation: Conversation, client: Client, response: Response) -> Person:
    config = _known_description() or _describe(conversation)
    if response.issuer is None and config.get("authorization_response_iss_parameter_supported") is True:
        raise LoginRefused(
            "The response does not name its issuer, although the provider promises it (RFC 9207)."
        )
    tokens = _redeem(conversation, config, client, response)
    token = _verify(conversation, config, client, tokens["id_token"])
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    answer = conversation.get("user information", config["userinfo_endpoint"], headers=headers)
    if answer.status != HTTPStatus.OK:
        raise ProviderFailed(
            f"The identity provider refused its user information with status {answer.status}."
        )
    if answer.body.get("sub") != token["sub"]:
        # Core, 5.3.2
        raise ProviderFailed("The identity provider's identity token and user information disagree.")
    claims = {**token, **answer.body}
    if wrong := [name for name in _TEXTS if not isinstance(claims.get(name), str | None)]:
        raise ProviderFailed(f"The identity provider sent a {wrong[0]} that is not a text.")
    return Person(token, claims, _logout_address(config, client, tokens["id_token"]))


def _known_description() -> dict[str, Any] | None:
    """None: ask the provider. Raises ProviderFailed if it failed a moment ago."""
    known: dict[str, Any] | ProviderFailed | None = cache.get(cache_key("description"))
    if isinstance(known, ProviderFailed):
        raise known.again()
    return known


def _describe(conversation: Conversation) -> dict[str, Any]:
    try:
        config = _read_description(conversation)
    except ProviderFailed as failure:
        cache.set(cache_key("description"), failure, FAILURE_SECONDS)
        raise
    cache.set(cache_key("description"), config, CACHE_SECONDS)
    return config


def _read_description(conversation: Conversation) -> dict[str, Any]:
    # Discovery, 4.1: without the terminating "/". The issuer itself keeps it.
    url = settings.OIDC_ISSUER.rstrip("/") + "/.well-known/openid-configuration"
    answer = conversation.get("configuration", url)
    config = answer.body
    if answer.status != HTTPStatus.OK:
        raise ProviderFailed(f"The identity provider refused its configuration with status {answer.status}.")
    if config.get("issuer") != settings.OIDC_ISSUER:
        # Discovery, 4.3
        raise ProviderFailed("The identity provider's configuration names another issuer than OIDC_ISSUER.")
    if unusable := [name for name in _ENDPOINTS if not is_secure_url(config.get(name))]:
        raise ProviderFailed(
            f"The identity provider's configuration has no https URL as {', '.join(unusable)}."
        )
    # The other members may be nested too deeply for the cache.
    kept = {name: value for name, value in config.items() if isinstance(value, str | bool)}
    return {**kept, _IN_FORM: _sends_secret_in_form(config)}


def _sends_secret_in_form(config: dict[str, Any]) -> bool:
    """Whether to authenticate by client_secret_post, and not client_secret_basic."""
    # Discovery, 3: the default.
    methods = config.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    if not isinstance(methods, list) or not {"client_secret_post", "client_secret_basic"}.intersection(
        filter(lambda method: isinstance(method, str), methods)
    ):
        raise ProviderFailed("The identity provider's configuration allows no client secret.")
    return "client_secret_post" in methods


def _redeem(
    conversation: Conversation, config: dict[str, Any], client: Client, response: Response
) -> dict[str, str]:
    """The access token and the identity token."""
    form = {
        "grant_type": "authorization_code",
        "code": response.code,
        "redirect_uri": client.redirect_uri,
        "code_verifier": response.verifier,
    }
    auth = None
    if config[_IN_FORM]:
        form |= {"client_id": client.id, "client_secret": client.secret}
    else:
        # RFC 6749, 2.3.1: both are form-encoded before they are joined by a colon.
        auth = (quote_plus(client.id), quote_plus(client.secret))
    answer = conversation.post("token", config["token_endpoint"], form, auth=auth)
    if answer.status != HTTPStatus.OK:
        error = answer.body.get("error")
        if error == "invalid_grant":
            raise LoginRefused("The provider does not accept the code.")
        code = error if isinstance(error, str) and _ERROR_CODE.fullmatch(error) else "no error code"
        raise ProviderFailed(f"The identity provider refused its token with status {answer.status}, {code}.")
    access_token, identity_token = answer.body.get("access_token"), answer.body.get("id_token")
    if not isinstance(access_token, str) or not _ACCESS_TOKEN.fullmatch(access_token):
        raise ProviderFailed("The identity provider sent no usable access token.")
    if not isinstance(identity_token, str):
        raise ProviderFailed("The identity provider sent no identity token.")
    return {"access_token": access_token, "id_token": identity_token}


def _verify(
    conversation: Conversation, config: dict[str, Any], client: Client, identity_token: str
) -> dict[str, Any]:
    """The claims of the identity token (Core, 3.1.3.7). The nonce is the caller's to compare."""
    try:
        header = jwt.get_unverified_header(identity_token)
        if header.get("alg") not in ALGORITHMS:
            raise ProviderFailed(
                "The identity provider signed the identity token in a way that is not accepted."
            )
        claims: dict[str, Any] = jwt.decode(
            identity_token,
            _key_of(conversation, config, header),
            algorithms=[header["alg"]],
            audience=client.id,
            issuer=settings.OIDC_ISSUER,
            leeway=_CLOCK_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"], "enforce_minimum_key_length": True},
        )
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise ProviderFailed("The identity provider's identity token is not valid.") from error
    audience = claims["aud"]
    if audience not in (client.id, [client.id]) or claims.get("azp", client.id) != client.id:
        raise ProviderFailed("The identity provider's identity token is for another client, too.")
    return claims


def _key_of(conversation: Conversation, config: dict[str, Any], header: dict[str, Any]) -> jwt.PyJWK:
    """The key that signed. If the known ones lack it, the provider may have replaced them."""
    known: Keys | None = cache.get(cache_key("keys"))
    if known is not None:
        key = find_key(known, header)
        if key is not None:
            return key
        if not cache.add(cache_key("new keys"), True, NEW_KEYS_SECONDS):
            raise ProviderFailed(
                "The identity token was signed with a key that the identity provider does not list."
            )
    answer = conversation.get("keys", config["jwks_uri"])
    if answer.status != HTTPStatus.OK:
        raise ProviderFailed(f"The identity provider refused its keys with status {answer.status}.")
    keys = _read_keys(answer.body)
    key = find_key(keys, header)
    cache.set(cache_key("keys"), keys, CACHE_SECONDS)
    if key is None:
        raise ProviderFailed(
            "The identity token was signed with a key that the identity provider does not list."
        )
    return key


def _read_keys(body: dict[str, Any]) -> Keys:
    try:
        return read_keys(body, ALGORITHMS)
    except ValueError:
        raise ProviderFailed("The identity provider's list of keys is malformed.") from None


def _logout_address(config: dict[str, Any], client: Client, identity_token: str) -> str | None:
    """Return the address that also logs out at the provider (OpenID Connect RP-Initiated Logout 1.0)."""
    endpoint = config.get("end_session_endpoint")
    if not settings.OIDC_LOGOUT or not isinstance(endpoint, str) or not is_secure_url(endpoint):
        return None
    query = urlencode(
        {
            "id_token_hint": identity_token,
            "client_id": client.id,
            "post_logout_redirect_uri": settings.BASE_URL + reverse("account_login"),
        }
    )
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def cache_key(name: str) -> str:
    """Django's cache is one per process, and safe for threads."""
    return f"identity provider {settings.OIDC_ISSUER!r} {name}".replace(" ", "_")
