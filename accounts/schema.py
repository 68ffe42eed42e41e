"""The OpenAPI description of the endpoints under /api/auth, and of the two credentials."""

from __future__ import annotations

from functools import partial
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiRequest, extend_schema_view
from rest_framework.fields import CharField

from accounts.serializers import LoginSerializer, RefreshSerializer
from accounts.services import BadCredentials, BadToken
from common.errors import TooManyAttempts
from common.schema import BAD_BODIES, NO_CREDENTIAL, Part, annotate, answer, invalid, operation

_operation = partial(operation, tag="Authentication")
_TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0b2tlbl90eXBlIjoiYWNjZXNzIn0.c2lnbmF0dXJl"  # noqa: S105 # an example
_KEY = "sl_live_0123456789ABCDEFGHIJKLMNOPQRSTUV0abcde"

annotate(LoginSerializer, {"email": {"format": "email"}, "password": {"format": "password"}})


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # its __init_subclass__
    target_class = "accounts.authentication.ApiKeyAuthentication"
    name = "ApiKeyAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "X-API-Key",
            "description": "For servers. Read and replaced under /api/auth, with a token.",
        }


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # its __init_subclass__
    target_class = "accounts.authentication.BearerAuthentication"
    name = "bearerAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "For browser front ends: the `token` that logging in returns.",
        }


describe_tokens = extend_schema_view(
    login=_operation(
        "login",
        "Log in with e-mail and password.",
        answer(
            "Login",
            "A token, and another to refresh it with.",
            beside={
                "token": Part(CharField(help_text="To be sent as `Authorization: Bearer <token>`."), _TOKEN),
                "refreshToken": Part(CharField(help_text="For POST /api/auth/refresh."), _TOKEN),
            },
        ),
        [invalid("email"), *BAD_BODIES, BadCredentials(), TooManyAttempts(600, limit=10, window=900)],
        body=OpenApiRequest(
            LoginSerializer,
            examples=[OpenApiExample("Example", {"email": "ada@example.com", "password": "correct horse"})],
        ),
    ),
    refresh=_operation(
        "refreshToken",
        "Get a new token without logging in again.",
        answer(
            "Refresh",
            "A new token.",
            beside={
                "token": Part(CharField(help_text="To be sent as `Authorization: Bearer <token>`."), _TOKEN)
            },
        ),
        [invalid("refreshToken"), *BAD_BODIES, BadToken()],
        body=OpenApiRequest(
            RefreshSerializer, examples=[OpenApiExample("Example", {"refreshToken": _TOKEN})]
        ),
    ),
)

describe_api_key = extend_schema_view(
    api_key=_operation(
        "getApiKey",
        "Read the account's API key.",
        answer(
            "ApiKey",
            "The API key in force.",
            beside={
                "apiKey": Part(
                    CharField(allow_null=True, help_text="Null when there is none to be read."), _KEY
                )
            },
        ),
        [NO_CREDENTIAL],
    ),
    regenerate_api_key=_operation(
        "regenerateApiKey",
        "Replace the account's API key.",
        answer(
            "RegenerateApiKey",
            "The new API key; the former one has stopped working.",
            beside={"apiKey": Part(CharField(), _KEY)},
        ),
        [*BAD_BODIES, NO_CREDENTIAL],
    ),
)
