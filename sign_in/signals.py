"""Signal receivers: list the session of a login, and record a change of second factors in the history."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth.signals import user_logged_in
from django.dispatch import Signal, receiver
from django.http import HttpRequest

from accounts.models import User
from accounts.second_factor.policy import record_second_factor
from accounts.sessions.browser import register_browser


@receiver(user_logged_in)
def register(sender: type[User], request: HttpRequest, user: User, **_: Any) -> None:
    session: Any = request.session
    if session.stored_key is None:
        # The browser was signed in to another account, whose session Django has just deleted.
        session.save()
    register_browser(
        user, session.stored_key, request.headers.get("User-Agent", ""), session.get_expiry_date()
    )


@receiver([authenticator_added, authenticator_removed, authenticator_reset])
def record(signal: Signal, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Runs in the transaction of the page that changes the factor."""
    record_second_factor(user, authenticator.type, is_set=signal is not authenticator_removed)
