"""Admission to password hashing. A hash takes tens of milliseconds and occupies its thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from accounts.admission import Admission
from common.http.client_address import customer_network
from limits.rates import spend_request

# A hash is a matter of milliseconds; a longer wait means that the machine or the database is overloaded.
WAIT_SECONDS = 5

# Separate, so that visitors of links cannot keep anybody from logging in. A worker has four threads, and neither can
# occupy all of them.
account_hashing = Admission(2, 1, seconds=WAIT_SECONDS)
link_hashing = Admission(1, 1, seconds=WAIT_SECONDS)


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
