"""Which account an identity of the OpenID provider logs in to."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.signals import password_changed, password_reset, user_logged_in
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from accounts.history import name_author
from accounts.identities import PROVIDER_LOGOUT, connect, describe, identities_of
from accounts.invitations import invitation_at, spend_account
from accounts.models import User
from accounts.services import change_account, create_account
from common.errors import Conflict, InvalidFields, TooManyAttempts
from common.http.current_request import Actor, AuthMethod
from pages.responses import refuse, refuse_attempts
from sign_in.openid_connect.conversations import ProviderFailed
from sign_in.openid_connect.protocol import Person
from sign_in.refusals import LOGIN_LIMITED, PROVIDER_FAILED

NOT_CONFIRMED = "The provider did not confirm your identity. Try again."

log = logging.getLogger(__name__)


class IdentityAdapter(DefaultSocialAccountAdapter):
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Check the identity, and connect it or find its account, so that allauth only has to log in to it."""
        person: Person = sociallogin.person
        if not constant_time_compare(str(person.token.get("nonce")), sociallogin.state["nonce"]):
            # OpenID Connect Core 1.0, 3.1.3.7: the token belongs to another request.
            self.on_authentication_error(request, None, "nonce")
        _check_domain(request, person.claims)
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            raise ImmediateHttpResponse(_connect(request, sociallogin.account))
        if not sociallogin.is_existing:
            sociallogin.user = _create_account(
                request, sociallogin.account, person.claims, sociallogin.state.get("next") or ""
            )
        if settings.OIDC_STAFF_GROUP and not sociallogin.user.is_superuser:
            # Superusers are appointed by operators only, and the last one must not lock everybody out by a login.
            is_staff = settings.OIDC_STAFF_GROUP in _groups(person.claims)
            changes = {"is_staff": is_staff, "is_staff_by_provider": is_staff}
            change_account(user=sociallogin.user, changes=changes)
        sociallogin.state[PROVIDER_LOGOUT] = person.logout

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **others: Any
    ) -> None:
        if isinstance(exception, ProviderFailed):
            raise ImmediateHttpResponse(refuse_failure(request, exception))
        log.warning("A login by OpenID Connect failed: %s", exception or error)
        raise ImmediateHttpResponse(refuse_identity(request, NOT_CONFIRMED))


def refuse_failure(request: HttpRequest, failure: ProviderFailed) -> HttpResponse:
    """The page with the reason. The log has it once, with the cause in this host."""
    if not failure.is_logged:
        log.warning(
            "Single sign-on failed: %s%s", failure, f" ({failure.__cause__})" if failure.__cause__ else ""
        )
    return refuse(request, replace(PROVIDER_FAILED, status=failure.status, message=str(failure)))


def refuse_identity(request: HttpRequest, reason: str) -> HttpResponse:
    return render(request, "sign_in/no_identity.html", {"reason": gettext(reason)}, status=403)


def limit_staff(request: HttpRequest) -> None:
    """A staff status that the provider granted holds only in a session that was opened with the provider.

    Otherwise, a passkey would keep it after the provider has removed the person from the group.
    """
    user = request.user
    if isinstance(user, User) and user.is_staff_by_provider and not user.is_superuser:
        records = get_authentication_records(request, user)
        if not any(record.get("method") == "socialaccount" for record in records):
            user.is_staff = False


@receiver(user_logged_in)
def keep_logout_address(request: HttpRequest, sociallogin: SocialLogin | None = None, **_: Any) -> None:
    if sociallogin is not None and (address := sociallogin.state.get(PROVIDER_LOGOUT)):
        request.session[PROVIDER_LOGOUT] = address


@receiver([password_changed, password_reset])
def name_identities(request: HttpRequest, user: User, **_: Any) -> None:
    """Name the identities that still log in after a new password. A mail names them, too."""
    if identities := [*identities_of(user)]:
        named = "; ".join(map(describe, identities))
        messages.warning(
            request,
            gettext(
                "These identities of single sign-on still sign in to your account: {named}. See “Account”."
            ).format(named=named),
        )


def _check_domain(request: HttpRequest, claims: dict[str, Any]) -> None:
    domains = settings.OIDC_ALLOWED_DOMAINS
    domain = (claims.get("email") or "").rpartition("@")[2].lower()
    if domains and not (domain in domains and claims.get("email_verified") is True):
        raise ImmediateHttpResponse(
            refuse_identity(request, gettext("Only accounts of certain e-mail domains can sign in."))
        )


def _connect(request: HttpRequest, identity: SocialAccount) -> HttpResponse:
    if not isinstance(request.user, User):
        return redirect("account_login")
    try:
        connect(request.user, identity)
    except IntegrityError:
        messages.error(request, gettext("This identity is already connected with an account."))
    else:
        notify(request, "account_connected", identity)
        messages.success(request, gettext("You can now sign in with single sign-on."))
    return redirect("account_home")


def notify(request: HttpRequest, mail: str, identity: SocialAccount) -> None:
    email = identity.extra_data.get("email")
    get_account_adapter(request).send_notification_mail(
        f"socialaccount/email/{mail}",
        request.user,
        {"identity": email, "account_page": settings.BASE_URL + "/accounts/"},
    )


def _create_account(
    request: HttpRequest, identity: SocialAccount, claims: dict[str, Any], target: str
) -> User:
    """``target`` is the page to open afterwards: that of an invitation also permits an account."""
    email = claims.get("email") or ""
    invitation = invitation_at(target)
    is_invited = invitation is not None and invitation.email in ("", email.lower())
    if not settings.OIDC_CREATE_ACCOUNTS and not is_invited:
        raise ImmediateHttpResponse(
            refuse_identity(
                request,
                gettext(
                    "This identity is not connected with an account. If you have one, sign in and connect it."
                ),
            )
        )
    if claims.get("email_verified") is not True:
        raise ImmediateHttpResponse(
            refuse_identity(request, gettext("The provider has not verified your e-mail address."))
        )
    try:
        if invitation is not None:
            spend_account(invitation)
        with transaction.atomic():
            user = create_account(
                email=email,
                first_name=_name(claims, "given_name"),
                last_name=_name(claims, "family_name"),
            ).user
            user.set_unusable_password()
            user.save(update_fields=["password"])
            # Nobody is logged in yet.
            name_author(Actor(user.pk, AuthMethod.PAGE))
            SocialAccount.objects.create(
                user=user, provider=identity.provider, uid=identity.uid, extra_data=identity.extra_data
            )
    except (Conflict, IntegrityError):
        # A concurrent login of the same person may have created the account.
        identities = SocialAccount.objects.select_related("user")
        created = identities.filter(provider=identity.provider, uid=identity.uid).first()
        if created is not None:
            return created.user  # type: ignore[no-any-return] # allauth has no types
        reason = gettext(
            "An account with your e-mail address exists. Sign in with its password and connect it."
        )
        raise ImmediateHttpResponse(refuse_identity(request, reason)) from None
    except InvalidFields as error:
        raise ImmediateHttpResponse(refuse_identity(request, error.message)) from None
    except TooManyAttempts as error:
        raise ImmediateHttpResponse(refuse_attempts(request, LOGIN_LIMITED, error)) from None
    return user


def _name(claims: dict[str, Any], claim: str) -> str:
    """Keep only characters that the database can store: a claim may contain NUL or a lone surrogate."""
    return "".join(filter(str.isprintable, claims.get(claim) or ""))[:100]


def _groups(claims: dict[str, Any]) -> list[Any]:
    groups = claims.get("groups", [])
    return groups if isinstance(groups, list) else [groups]
