"""Serialises the changes of an account's second factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from accounts.caps import lock_account

View = Callable[..., HttpResponse]
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


def one_at_a_time(view: View) -> View:
    """Run each request with an unsafe method in a transaction that locks the account's row.

    So the state that the view reads cannot change before it changes a factor: concurrent requests neither remove the
    last two factors nor exceed a limit. The change and its row in the history are in the same transaction.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **parameters: Any) -> HttpResponse:
        if request.method in _SAFE_METHODS or request.user.pk is None:
            return view(request, *args, **parameters)
        with transaction.atomic():
            lock_account(request.user.pk)
            return view(request, *args, **parameters)

    return wrapper
