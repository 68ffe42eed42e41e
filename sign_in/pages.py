"""The style of the pages, and their content security policy."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import HttpRequest

from common.brand import brand_context
from pages.style import style, style_source, stylesheet

PREFIX = "/accounts/"
_FURTHER_STYLE = stylesheet(Path(__file__).with_name("style.css"))


def _style() -> str:
    return style() + _FURTHER_STYLE


def content_security_policy() -> str:
    """The scripts, for passkeys, are files of the service. The QR code for authenticator apps is a data: image."""
    return (
        f"default-src 'none'; style-src {style_source(_style())}; script-src 'self'; connect-src 'self'; "
        f"img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


def page_context(request: HttpRequest) -> dict[str, object]:
    """A context processor: the same settings for each page under /accounts/."""
    if not request.path_info.startswith(PREFIX):
        return {}
    return {
        **brand_context(),
        "account_style": _style(),
        "service_host": settings.BASE_HOST,
        "takes_passwords": settings.PASSWORD_LOGIN,
        "has_provider": bool(settings.OIDC_ISSUER),
        "can_sign_up": settings.SIGNUP != "off",
    }
