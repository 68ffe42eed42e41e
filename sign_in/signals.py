"""Signal receivers: list the session of a login and its confirmations, and record changes of second factors."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import authentication_step_completed
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib import messages
from django.contrib.auth.signals import user_logged_in
from django.dispatch import Signal, receiver
from django.http import HttpRequest
from django.utils.translation import gettext

from accounts.models import User
from accounts.second_factor import count_second_factors, record_second_factor
from accounts.sessions.lifecycle import confirm_browser, end_other_sessions, register_browser


@receiver(user_logged_in)
def register(sender: type[User], request: HttpRequest, user: User, **_: Any) -> None:
    session: Any = request.session
    if session.stored_key is None:
        # The browser was signed in to another account, whose session Django has just deleted.
        session.save()
    register_browser(
        user, session.stored_key, request.headers.get("User-Agent", ""), session.get_expiry_date()
    )


@receiver(authentication_step_completed)
def confirm(
    sender: type[User], request: HttpRequest, user: User, reauthenticated: bool = False, **_: Any
) -> None:
    session: Any = request.session
    if reauthenticated and session.stored_key is not None:
        confirm_browser(session.stored_key)


@receiver([authenticator_added, authenticator_removed, authenticator_reset])
def record(signal: Signal, request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Runs in the transaction of the page that changes the factor.

    The first factor ends all other sessions: they began without one, and one of them may be a thief's.
    """
    record_second_factor(user, authenticator.type, is_set=signal is not authenticator_removed)
    is_factor = authenticator.type != Authenticator.Type.RECOVERY_CODES
    if signal is authenticator_added and is_factor and count_second_factors(user) == 1:
        session: Any = request.session
        if end_other_sessions(user, session.stored_key):
            messages.info(request, gettext("All other sessions of your account were ended."))
