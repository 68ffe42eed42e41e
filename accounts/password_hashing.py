"""Hashing of passwords, and admission to it: a hash takes tens of milliseconds and occupies its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password

from accounts.admission import Admission
from common.http.client_address import customer_network
from limits.guessing import begin_guess
from limits.rates import spend_request

# Per process. Bounds the memory, and leaves CPU time for the other threads.
AT_ONCE = 2
_places = BoundedSemaphore(AT_ONCE)


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's first recommendation (19 MiB, two passes, one lane).

    Django's own parameters take 100 MiB and several times as long for each login, so a flood of logins would become
    an outage. `accounts.password_hashing` keeps the number of waiting threads small.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _places:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _places:
            return super().verify(password, encoded)


# A hash is a matter of milliseconds; a longer wait means that the machine or the database is overloaded.
WAIT_SECONDS = 5

# Separate, so that visitors of links cannot keep anybody from logging in. A worker has four threads, and neither can
# occupy all of them.
account_hashing = Admission(2, 1, seconds=WAIT_SECONDS)
link_hashing = Admission(1, 1, seconds=WAIT_SECONDS)


def admit_password_of_account(account_id: int, fields: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Limit the concurrent hashing of new passwords of links and shares. Raises TooManyAtOnce."""
    if fields.get("password") is None:
        return nullcontext()
    return link_hashing.admit(f"account {account_id}")


@contextmanager
def admit_network(admission: Admission, address: str) -> Iterator[None]:
    """Raises TooManyRequests or TooManyAtOnce. ``address`` is the client's.

    Counts right passwords, too: their hashes cost the same.
    """
    network = customer_network(address)
    if limit := settings.RATE_LIMIT_PASSWORDS:
        kind = "accounts" if admission is account_hashing else "links"
        spend_request(f"passwords of {kind} from {network}", limit)
    with admission.admit(f"network {network}"):
        yield


_KNOWN_FOR = timedelta(days=1)
# One more than the longest password of links and shares, so that truncated input never equals a password.
_MAX_INPUT = 129


def try_password_of_visitor(subject: str, password: str, stored: str, address: str) -> bool:
    """Whether the password of a link or a share is right. ``subject`` names it, ``address`` is the visitor's.

    Raises TooManyAttempts before hashing if no attempts are left.
    """
    with admit_network(link_hashing, address):
        guess = begin_guess(subject, address)
        is_right = check_password(password[:_MAX_INPUT], stored)
        if is_right:
            guess.succeeded(known_for=_KNOWN_FOR)
    return is_right
