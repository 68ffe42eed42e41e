"""The style of the pages, and their content security policy."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from common.brand import brand_context
from redirects.page_style import style, style_source

PREFIX = "/accounts/"
_FURTHER_STYLE = (
    "h2{font-size:1.1rem;margin:1.5rem 0 .25rem}"
    "nav{margin:0 0 1.5rem;display:flex;gap:.25rem 1rem;flex-wrap:wrap}"
    "label+ul,input[type=checkbox],input[type=radio]{width:auto;margin:0 .5rem 1rem 0}"
    "button{margin-top:.5rem}"
    "textarea{box-sizing:border-box;width:100%;font:inherit;padding:.6rem .75rem}"
    "img{display:block;width:12rem;margin:0 0 1rem;background:#fff}"
    ".help{margin:-.75rem 0 1rem;color:var(--soft);font-size:.875rem}"
)


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
