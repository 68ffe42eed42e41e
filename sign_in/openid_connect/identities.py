"""Which account an identity of the OpenID provider logs in to."""

from __future__ import annotations

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.history.recording import authored_transaction, name_author
from accounts.models import User
from accounts.services import change_account, create_account
from common.errors import Conflict, InvalidFields
from common.http.current_request import Actor, Via

log = logging.getLogger(__name__)


class IdentityAdapter(DefaultSocialAccountAdapter):
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Check the identity, and connect it or find its account, so that allauth only has to log in to it."""
        claims: dict[str, Any] = sociallogin.claims
        if sociallogin.nonce != sociallogin.state["nonce"]:
            # OpenID Connect Core 1.0, 3.1.3.7: the token belongs to another request.
            self.on_authentication_error(request, None, "nonce")
        _check_domain(request, claims)
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(_connect(request, sociallogin.account))
        if not sociallogin.is_existing:
            sociallogin.user = _create_account(request, sociallogin.account, claims)
        if settings.OIDC_STAFF_GROUP:
            is_staff = settings.OIDC_STAFF_GROUP in _groups(claims)
            change_account(user=sociallogin.user, changes={"is_staff": is_staff})

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **others: Any
    ) -> None:
        log.warning("A login by OpenID Connect failed: %s", exception or error)
        raise ImmediateHttpResponse(
            _refuse(request, "The provider did not confirm your identity. Try again.")
        )


def _check_domain(request: HttpRequest, claims: dict[str, Any]) -> None:
    domains = settings.OIDC_ALLOWED_DOMAINS
    domain = str(claims.get("email", "")).rpartition("@")[2].lower()
    if domains and not (domain in domains and claims.get("email_verified") is True):
        raise ImmediateHttpResponse(_refuse(request, "Only accounts of certain e-mail domains can log in."))


def _connect(request: HttpRequest, identity: SocialAccount) -> HttpResponse:
    """A unique constraint decides to which account an identity belongs."""
    if not isinstance(request.user, User):
        return redirect("account_login")
    try:
        with authored_transaction():
            SocialAccount.objects.create(user=request.user, provider=identity.provider, uid=identity.uid)
    except IntegrityError:
        messages.error(request, "This identity is already connected with an account.")
    else:
        messages.success(request, "You can now log in with single sign-on.")
    return redirect("account_home")


def _create_account(request: HttpRequest, identity: SocialAccount, claims: dict[str, Any]) -> User:
    if not settings.OIDC_CREATE_ACCOUNTS:
        raise ImmediateHttpResponse(
            _refuse(
                request,
                "This identity is not connected with an account. If you have one, log in and connect it.",
            )
        )
    if claims.get("email_verified") is not True:
        raise ImmediateHttpResponse(_refuse(request, "The provider has not verified your e-mail address."))
    try:
        with transaction.atomic():
            user = create_account(
                email=str(claims.get("email", "")),
                first_name=_name(claims, "given_name"),
                last_name=_name(claims, "family_name"),
            ).user
            user.set_unusable_password()
            user.save(update_fields=["password"])
            # Nobody is logged in yet.
            name_author(Actor(user.pk, Via.PAGE))
            SocialAccount.objects.create(user=user, provider=identity.provider, uid=identity.uid)
    except (Conflict, IntegrityError):
        # A concurrent login of the same person may have created the account.
        identities = SocialAccount.objects.select_related("user")
        created = identities.filter(provider=identity.provider, uid=identity.uid).first()
        if created is not None:
            return created.user  # type: ignore[no-any-return] # allauth has no types
        reason = "An account with your e-mail address exists. Log in with its password and connect it."
        raise ImmediateHttpResponse(_refuse(request, reason)) from None
    except InvalidFields as error:
        raise ImmediateHttpResponse(_refuse(request, error.message)) from None
    return user


def _name(claims: dict[str, Any], claim: str) -> str:
    """Only characters that the database can store: a claim may contain NUL or a lone surrogate."""
    return "".join(filter(str.isprintable, str(claims.get(claim, ""))))[:100]


def _groups(claims: dict[str, Any]) -> list[Any]:
    groups = claims.get("groups", [])
    return groups if isinstance(groups, list) else [groups]


def _refuse(request: HttpRequest, reason: str) -> HttpResponse:
    return render(request, "sign_in/no_identity.html", {"reason": reason}, status=403)
