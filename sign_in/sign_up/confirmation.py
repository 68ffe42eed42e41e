"""Sign-up. A mailed link proves the address before the account exists, so that nobody can claim another's address.

The link is signed, not stored. It works once, because then the account exists.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.urls import reverse

from accounts.mails import MailProblem, send_mail
from accounts.selectors import user_of_email
from accounts.workspaces.invitations import is_invited
from common.secrets import CurrentKeySigner
from sign_in.return_paths import is_own_page

LINK_SECONDS = 24 * 60 * 60
_SALT = "sign-up"


@dataclass(frozen=True, slots=True)
class SignUp:
    """``target`` is the page to open afterwards, or ""."""

    email: str
    target: str


def mail_answer(sign_up: SignUp) -> MailProblem | None:
    """Mail the link, or the reason for not sending one. Always sends one mail, so that the page reveals nothing.

    None if the mail server accepted it.
    """
    return send_mail(sign_up.email, "Your account", _text(sign_up))


def read_link(token: str) -> SignUp | None:
    """None if the link is not valid, has expired, or was used."""
    try:
        email, target = CurrentKeySigner(salt=_SALT).unsign_object(token, max_age=LINK_SECONDS)
    except signing.BadSignature:
        return None
    return SignUp(email, target) if _can_sign_up(email) else None


def _can_sign_up(email: str) -> bool:
    return user_of_email(email) is None and _is_open_to(email)


def _is_open_to(email: str) -> bool:
    return settings.SIGNUP == "open" or (settings.SIGNUP == "invited" and is_invited(email))


def _text(sign_up: SignUp) -> str:
    if user_of_email(sign_up.email) is not None:
        login = settings.BASE_URL + reverse("account_login")
        return f"You already have an account at {settings.BASE_HOST}. Log in here:\n\n{login}\n\n{_NOT_YOU}"
    if not _is_open_to(sign_up.email):
        return (
            f"Somebody requested an account for this address at {settings.BASE_HOST}. Only people who were invited"
            f" get one, and nobody has invited this address.\n\n{_NOT_YOU}"
        )
    target = sign_up.target if is_own_page(sign_up.target) else ""
    token = CurrentKeySigner(salt=_SALT).sign_object([sign_up.email, target])
    link = settings.BASE_URL + reverse("account_confirm_signup", kwargs={"token": token})
    return f"To create your account at {settings.BASE_HOST}, open this link within one day:\n\n{link}\n\n{_NOT_YOU}"


_NOT_YOU = "If you did not request it, ignore this mail."
