from __future__ import annotations

from typing import Any


def logging_settings(*, level: str, form: str, addresses: bool) -> dict[str, Any]:
    """``addresses``: whether lines may tell from where somebody asked."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "shortener_project.logs.TextFormatter"},
            "json": {"()": "shortener_project.logs.JSONFormatter"},
        },
        "filters": {"discreet": {"()": "shortener_project.logs.Discreet", "addresses": addresses}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["discreet"]}
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # A 4xx is the client's affair, not an event for the operator; what is a bug reaches this logger as an
            # error.
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "ERROR"},
        },
    }
