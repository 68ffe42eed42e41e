"""Login with OpenID Connect: the redirect to the provider, the callback, the end of a connection, and the logout."""

from __future__ import annotations

from typing import Any

from allauth.account import views as account
from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import get_random_string
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from accounts.identities import PROVIDER_LOGOUT, LastWayIn
from accounts.identities import disconnect as disconnect_identity
from sign_in.openid_connect.conversations import ProviderFailed
from sign_in.openid_connect.identities import NOT_CONFIRMED, notify, refuse_failure, refuse_identity
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
        return refuse_identity(request, NOT_CONFIRMED)
    response: HttpResponse = OAuth2CallbackView.adapter_view(ProviderAdapter(request, PROVIDER))(request)
    return response


@login_required
@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator] # allauth has no types
@require_POST
def disconnect(request: HttpRequest, identity: int) -> HttpResponse:
    """Disconnect an identity. An unknown one, or one of another account, gets the same response."""
    session: Any = request.session
    try:
        removed = disconnect_identity(request.user, identity, session.stored_key)  # type: ignore[arg-type] # logged in
    except LastWayIn as refusal:
        messages.error(request, gettext(refusal.message))
        return redirect("account_home")
    if removed is not None:
        notify(request, "account_disconnected", removed)
        messages.success(request, gettext("The identity no longer signs in. All other sessions have ended."))
    return redirect("account_home")


def logout(request: HttpRequest) -> HttpResponse:
    """Log out. With OIDC_LOGOUT, continue to the provider, which ends its own session."""
    address = request.session.get(PROVIDER_LOGOUT) if request.method == "POST" else None
    response: HttpResponse = account.logout(request)
    if address is None:
        return response
    return render(request, "sign_in/to_provider.html", {"address": address})


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
    except ProviderFailed as failure:
        return refuse_failure(request, failure)
    # Browsers apply form-action to the redirect after a form, and the provider's page may be on any host.
    return render(request, "sign_in/to_provider.html", {"address": response["Location"]})
