"""The admin's login: operators log in under /accounts/, like everybody else."""

from __future__ import annotations

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.second_factor import lacks_second_factor
from pages.responses import page
from sign_in.safe_urls import is_own_page


@require_safe
def login(request: HttpRequest) -> HttpResponse:
    """Redirect to the login. Show an account that is logged in why the admin refuses it."""
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not is_own_page(target):
        target = reverse("admin:index")
    if not request.user.is_authenticated:
        return HttpResponseRedirect(f"{reverse('account_login')}?{urlencode({REDIRECT_FIELD_NAME: target})}")
    if not (request.user.is_active and request.user.is_staff):
        return page(request, "sign_in/no_operator.html", {}, status=403)
    if lacks_second_factor(request.user):
        return HttpResponseRedirect(reverse("mfa_index"))
    return HttpResponseRedirect(target)
