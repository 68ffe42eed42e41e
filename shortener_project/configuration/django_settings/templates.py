from __future__ import annotations

from pathlib import Path
from typing import Any

import shortener_project


def template_settings() -> list[dict[str, Any]]:
    return [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            # Before the templates of the admin, whose header it replaces.
            "DIRS": [Path(shortener_project.__file__).with_name("templates")],
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                    "sign_in.pages.page_context",
                ]
            },
        }
    ]
