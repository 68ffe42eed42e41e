"""Well-known addresses of the service's own hosts. On customers' domains they are 404."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from shortener_project.web.middleware import is_on_system_host

View = Callable[[HttpRequest], HttpResponse]

SECURITY_TXT = "/.well-known/security.txt"
# RFC 9116 2.5.5 recommends less than a year.
_VALID_DAYS = 90


def on_own_hosts(view: View) -> View:
    @require_safe
    @wraps(view)
    def wrapper(request: HttpRequest) -> HttpResponse:
        if not is_on_system_host(request):
            raise Http404
        return view(request)

    return wrapper


@on_own_hosts
def security_txt(request: HttpRequest) -> HttpResponse:
    """Where to report a vulnerability (RFC 9116), if the operator has set SECURITY_CONTACT."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    fields = {
        "Contact": settings.SECURITY_CONTACT,
        "Expires": f"{today + timedelta(days=_VALID_DAYS):%Y-%m-%dT%H:%M:%SZ}",
        "Canonical": f"{settings.BASE_URL}{SECURITY_TXT}",
        "Preferred-Languages": "en",
    }
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    response = HttpResponse(text, "text/plain; charset=utf-8")
    response["Cache-Control"] = "public, max-age=86400"
    response["X-Content-Type-Options"] = "nosniff"
    return response


@on_own_hosts
def change_password(request: HttpRequest) -> HttpResponse:
    """Password managers lead people from here to the page that changes the password (W3C, A Well-Known URL for
    Changing Passwords).
    """
    if not settings.PASSWORD_LOGIN:
        raise Http404
    return HttpResponseRedirect(reverse("account_change_password"), headers={"Cache-Control": "no-store"})
