from __future__ import annotations

from typing import Any

from shortener_project import __version__


def openapi_settings(*, server: str) -> dict[str, Any]:
    """drf-spectacular's settings for the API at this URL."""
    return {
        "TITLE": "URL shortener",
        "DESCRIPTION": (
            "Short links, their statistics and the credentials to manage them.\n\n"
            "Every response is JSON with a `success` flag; every error, whatever its status, is an `Error`. "
            "Times are ISO 8601 in UTC. Texts must not contain NUL or lone surrogates. "
            "Integers take no fraction or exponent; 5.0 is rejected. "
            "Clients should ignore unknown keys."
        ),
        "VERSION": __version__,
        "CONTACT": {"name": "The operator of this service", "url": server},
        "LICENSE": {"name": "MIT", "identifier": "MIT"},
        "SERVERS": [{"url": server}],
        "OAS_VERSION": "3.1.0",
        "TAGS": [
            {"name": "Authentication", "description": "Tokens and the API key."},
            {"name": "Account", "description": "The own account and its sessions, for people who logged in."},
            {"name": "Links", "description": "Short links."},
            {"name": "Domains", "description": "Custom domains for short links, verified by DNS."},
            {
                "name": "Analytics",
                "description": "Clicks on short links: when, from where and with which device.",
            },
            {"name": "QR codes", "description": "QR code images for short links."},
            {"name": "Workspaces", "description": "Workspaces of teams, their members and invitations."},
            {
                "name": "Keys",
                "description": "API keys with scopes, for programs that need less than everything.",
            },
            {"name": "History", "description": "Who changed what, and former values."},
        ],
        # Docstrings are for developers; the descriptions in the schema modules are for API clients.
        "DISABLE_DOCSTRING_DESCRIPTIONS": True,
        # Requests and responses differ, above all in their required fields.
        "COMPONENT_SPLIT_REQUEST": True,
        # Every field of a PATCH is optional already.
        "COMPONENT_SPLIT_PATCH": False,
        "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
        "SORT_OPERATION_PARAMETERS": False,
        # Not drf-spectacular's hook that names choices: `common.openapi.operations` names them in lists, too.
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enum_id_removal",
            "common.openapi.document.describe_defaults",
            "common.openapi.document.declare_security_of_all",
            "common.openapi.document.link_operations",
            "common.openapi.document.share_headers",
        ],
    }
