"""Password-protected links: reading a password, password attempts, and the cookie that remembers a success."""

from __future__ import annotations

import orjson
from django.conf import settings
from django.core import signing
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from accounts.password_hashing import try_password_of_visitor
from common.database import check_connection
from common.secrets import CurrentKeySigner
from links.destinations.lookup import Target

UNLOCKED_SECONDS = 15 * 60


def json_password(request: HttpRequest) -> str | None:
    """Return the ``password`` of a JSON body, None if it has none. Raises ValueError if the body is anything but an
    object, or the password anything but text.
    """
    try:
        body = orjson.loads(request.body)
    except RequestDataTooBig as error:
        raise ValueError(error) from None
    if not isinstance(body, dict):
        raise ValueError("not an object")
    password = body.get("password")
    if not isinstance(password, str | None):
        raise ValueError("not a text")
    return password


def try_password(target: Target, password: str, address: str) -> bool:
    """Return whether the password is correct. Raises TooManyAttempts before hashing if no attempts are left."""
    check_connection()
    return try_password_of_visitor(
        f"link-password {target.link_id}", password, target.password or "", address
    )


def is_unlocked(request: HttpRequest, target: Target) -> bool:
    cookie = request.COOKIES.get(_cookie_name(target), "")
    try:
        unlocked = _signer(target).unsign(cookie, max_age=UNLOCKED_SECONDS)
    except signing.BadSignature:
        return False
    return constant_time_compare(unlocked, target.password_version)


def remember_unlocked(response: HttpResponse, request: HttpRequest, target: Target, code: str) -> None:
    """Set the cookie for the link's path, which browsers also send to the path with a slash."""
    response.set_cookie(
        _cookie_name(target),
        _signer(target).sign(target.password_version),
        max_age=UNLOCKED_SECONDS,
        path=f"/{code}",
        secure=settings.CSRF_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _cookie_name(target: Target) -> str:
    return f"unlocked-{target.public_id}"


def _signer(target: Target) -> CurrentKeySigner:
    return CurrentKeySigner(salt=f"redirects.password.{target.public_id}")
