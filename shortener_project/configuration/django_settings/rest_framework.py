from __future__ import annotations

from typing import Any


def rest_framework_settings() -> dict[str, Any]:
    return {
        "DEFAULT_AUTHENTICATION_CLASSES": [
            "accounts.api_requests.authentication.ApiKeyAuthentication",
            "accounts.api_requests.authentication.BearerAuthentication",
        ],
        "DEFAULT_PERMISSION_CLASSES": ["accounts.api_requests.permissions.HasRole"],
        "DEFAULT_THROTTLE_CLASSES": ["accounts.api_requests.throttling.RequestThrottle"],
        "DEFAULT_PARSER_CLASSES": ["common.rest.strict_json.StrictJSONParser"],
        "DEFAULT_RENDERER_CLASSES": ["common.rest.envelope.JSONRenderer"],
        "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.rest.envelope.JSONOnly",
        "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
        "EXCEPTION_HANDLER": "common.rest.envelope.exception_handler",
        "UNAUTHENTICATED_USER": None,
        "TEST_REQUEST_DEFAULT_FORMAT": "json",
        "TEST_REQUEST_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    }
