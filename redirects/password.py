"""Links behind a password: the attempt, and the cookie that remembers it."""

from __future__ import annotations

from threading import BoundedSemaphore

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from accounts.limits import Limit, forgive_attempts, spend_attempts
from common.client_address import client_network
from common.database import check_connection
from links.destinations import Target

UNLOCKED_SECONDS = 15 * 60
_PER_NETWORK = Limit(attempts=10, seconds=15 * 60)
_PER_LINK = Limit(attempts=100, seconds=60 * 60)
# A hash takes tens of milliseconds and 19 MiB; a flood of guesses must not take the worker's other threads along.
_HASHING = BoundedSemaphore(2)


def try_password(target: Target, given: str, address: str) -> bool:
    """Whether it is the link's password. Raises TooManyAttempts, before any hashing, when no failure is left."""
    limits = {
        f"link-password {target.link_id} {client_network(address)}": _PER_NETWORK,
        f"link-password {target.link_id}": _PER_LINK,
    }
    check_connection()
    spend_attempts(limits)
    with _HASHING:
        right = check_password(given, target.password or "")
    if right:
        forgive_attempts(limits)
    return right


def is_unlocked(request: HttpRequest, target: Target) -> bool:
    cookie = request.COOKIES.get(_cookie_name(target), "")
    try:
        unlocked = _signer(target).unsign(cookie, max_age=UNLOCKED_SECONDS)
    except signing.BadSignature:
        return False
    return constant_time_compare(unlocked, target.password_version)


def remember_unlocked(response: HttpResponse, request: HttpRequest, target: Target) -> None:
    response.set_cookie(
        _cookie_name(target),
        _signer(target).sign(target.password_version),
        max_age=UNLOCKED_SECONDS,
        path=request.path,
        secure=settings.CSRF_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _cookie_name(target: Target) -> str:
    return f"unlocked-{target.public_id}"


def _signer(target: Target) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"redirects.password.{target.public_id}")
