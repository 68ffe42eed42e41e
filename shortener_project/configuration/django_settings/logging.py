from __future__ import annotations

from typing import Any


def logging_settings(*, level: str, form: str, addresses: bool) -> dict[str, Any]:
    """``addresses``: whether log lines may contain client addresses."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "shortener_project.running.logs.TextFormatter"},
            "json": {"()": "shortener_project.running.logs.JSONFormatter"},
        },
        "filters": {
            "redacting": {"()": "shortener_project.running.logs.RedactingFilter", "addresses": addresses},
            "repeated": {"()": "common.repeated_lines.RepeatedLines"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["redacting", "repeated"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # A 4xx is the client's error, not an event for the operator; bugs reach this logger as errors.
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "ERROR"},
        },
    }
