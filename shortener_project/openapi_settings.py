from __future__ import annotations

from typing import Any


def openapi_settings(*, server: str) -> dict[str, Any]:
    """How the API at this address describes itself."""
    return {
        "TITLE": "URL shortener",
        "DESCRIPTION": (
            "Short links, their statistics and the credentials to manage them.\n\n"
            "Every answer is JSON with a `success` flag; every refusal, whatever its status, is an `Error`. "
            "Times are ISO 8601 in UTC. No text may hold NUL or half of a surrogate pair. "
            "A number that is sent for an integer has neither fraction nor exponent, so that 5.0 is none. "
            "Clients should ignore keys that they do not know."
        ),
        "VERSION": "0.1.0",
        "LICENSE": {"name": "MIT", "identifier": "MIT"},
        "SERVERS": [{"url": server}],
        "OAS_VERSION": "3.1.0",
        "TAGS": [
            {"name": "Authentication", "description": "Tokens and the API key."},
            {"name": "Links", "description": "Short links."},
            {"name": "Domains", "description": "Hosts of one's own for short links, proven by DNS."},
            {
                "name": "Analytics",
                "description": "How often short links are followed, when, from where and with what.",
            },
            {"name": "QR codes", "description": "Images that lead to short links."},
        ],
        # The docstrings speak to who changes the code, the descriptions in the schema modules to who calls the API.
        "DISABLE_DOCSTRING_DESCRIPTIONS": True,
        # What is sent and what is answered differ: in what is required, above all.
        "COMPONENT_SPLIT_REQUEST": True,
        "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
        "SORT_OPERATION_PARAMETERS": False,
        # Choices are shown where they are allowed, not as components of their own.
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enum_id_removal",
            "common.schema_hooks.require_a_security_of_all",
            "common.schema_hooks.link_operations",
            "common.schema_headers.share_headers",
        ],
    }
