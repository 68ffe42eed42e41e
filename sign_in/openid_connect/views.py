"""Login with OpenID Connect: the redirect to the provider, and the callback."""

from __future__ import annotations

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import get_random_string
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from pages.responses import refuse
from sign_in import refusals
from sign_in.provider import PROVIDER, ProviderAdapter


@require_POST
def login(request: HttpRequest) -> HttpResponse:
    return _to_provider(request, AuthProcess.LOGIN)


@login_required
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator] # allauth has no types
@require_POST
def connect(request: HttpRequest) -> HttpResponse:
    return _to_provider(request, AuthProcess.CONNECT)


@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    if request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:
        # RFC 9207: another provider sent the response.
        return refuse(request, refusals.PROVIDER_FAILED)
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(ProviderAdapter(request, PROVIDER))(request)
    except (RequestException, ProviderException):
        return refuse(request, refusals.PROVIDER_FAILED)
    return response


def _to_provider(request: HttpRequest, process: str) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    provider = get_adapter().get_provider(request, PROVIDER)
    nonce = get_random_string(32)
    try:
        response: HttpResponse = provider.redirect(
            request,
            process,
            next_url=get_next_redirect_url(request),
            auth_params={"nonce": nonce},
            nonce=nonce,
        )
    except (RequestException, ProviderException):
        return refuse(request, refusals.PROVIDER_FAILED)
    # Browsers apply form-action to the redirect after a form, and the provider's page may be on any host.
    return render(request, "sign_in/to_provider.html", {"address": response["Location"]})
