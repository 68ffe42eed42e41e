"""Warnings that a host logs once per subject and period, however many of its processes see the cause.

The subjects come from requests, so a client can invent any number of them. Only a bounded number is remembered, and
further subjects cause no warning until the period of an earlier one ends.

A file holds the subjects and the times of their warnings. A process looks at it at most once per subject and period
unless another process holds it, and not at all while it is full.

One is about a proxy that is missing from TRUSTED_PROXIES. A loopback or private address or a Unix socket that sends
X-Forwarded-For is probably a proxy. While the service does not trust it, all visitors have the proxy's address: they
share one limit, and country rules do not apply.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from contextlib import suppress
from functools import cache, lru_cache
from ipaddress import ip_network
from pathlib import Path

from django.conf import settings

from common.http.client_address import LOOPBACK, Network, client_address, is_within

log = logging.getLogger(__name__)


class LimitedWarnings:
    def __init__(self, file: Path, *, seconds: float, subjects: int) -> None:
        self._file = file
        self._seconds = seconds
        self._subjects = subjects
        # The times of the warnings that this process knows of.
        self._known: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_due(self, subject: str) -> bool:
        """Whether the caller must log the warning now. ``subject``: text without white space. Never waits for another
        process, and never raises: without the file, each process counts for itself.
        """
        with self._lock:
            now = time.time()
            self._known = self._current(self._known, now)
            if subject in self._known or len(self._known) >= self._subjects:
                return False
            try:
                return self._record(subject)
            except BlockingIOError:
                return False
            except OSError as error:
                log.error("Times of warnings are not shared: %s", error)
                self._known[subject] = now
                return True

    def recent(self) -> list[str]:
        """The subjects of the warnings of this host within the last period."""
        with suppress(OSError):
            return list(self._current(_parsed(self._file.read_text()), time.time()))
        return []

    def _record(self, subject: str) -> bool:
        """Add the subject to the file, unless it is there or the file is full. Raises OSError."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+") as file:
            # Closing the file releases the lock.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Read the clock under the lock: no time in the file is later, unless the clock was set back.
            now = time.time()
            self._known = self._current(_parsed(file.read()), now)
            is_due = subject not in self._known and len(self._known) < self._subjects
            if is_due:
                self._known[subject] = now
                file.seek(0)
                file.write("".join(f"{at} {name}\n" for name, at in self._known.items()))
                file.truncate()
        return is_due

    def _current(self, times: dict[str, float], now: float) -> dict[str, float]:
        # A time in the future means that the clock was set back.
        return {subject: at for subject, at in times.items() if now - self._seconds < at <= now}


def _parsed(text: str) -> dict[str, float]:
    """Skip malformed lines: a process may have been killed while it wrote."""
    times = {}
    for line in text.splitlines():
        at, _, subject = line.partition(" ")
        with suppress(ValueError):
            times[subject] = float(at)
    return times


# Also the time for which the admin's front page shows an address.
SECONDS, ADDRESSES = 3600, 16
# Stands for the peers of a Unix socket, whose address is "".
_UNIX_SOCKET = "unix-socket"
# RFC 1918 and RFC 4193.
_PRIVATE: tuple[Network, ...] = tuple(
    map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)


def report_if_untrusted_proxy(peer: str, trusted: tuple[Network, ...]) -> None:
    """Log a warning, once an hour for each address, if ``peer`` is local but not trusted. Call it for a request that
    has X-Forwarded-For.
    """
    if not _is_untrusted_proxy(peer, trusted):
        return
    address = client_address(peer, "", ()) or _UNIX_SOCKET
    if not untrusted_proxies().is_due(address):
        return
    log.warning(
        "X-Forwarded-For from %s is ignored, because the address is not in TRUSTED_PROXIES. If it is the address of "
        "a proxy, all its visitors share one limit. The front page of the admin shows the address.",
        _shown(peer, address),
    )


def _shown(peer: str, address: str) -> str:
    if not peer:
        return "a Unix socket"
    if settings.LOG_ADDRESSES:
        return address
    return f"a {'loopback' if is_within(peer, LOOPBACK) else 'private'} address"


def untrusted_proxy_addresses() -> list[str]:
    """The addresses of the last hour on this host, except those now trusted."""
    trusted = tuple(settings.TRUSTED_PROXIES)
    recent = ("" if subject == _UNIX_SOCKET else subject for subject in untrusted_proxies().recent())
    return [peer or "a Unix socket" for peer in recent if _is_untrusted_proxy(peer, trusted)]


@lru_cache(maxsize=1024)
def _is_untrusted_proxy(peer: str, trusted: tuple[Network, ...]) -> bool:
    # As in `client_address`: a Unix socket is trusted if any network is.
    if not peer:
        return not trusted
    return is_within(peer, (*LOOPBACK, *_PRIVATE)) and not is_within(peer, trusted)


@cache
def untrusted_proxies() -> LimitedWarnings:
    return LimitedWarnings(
        settings.VERSIONS_FILE.with_name("untrusted_proxies"), seconds=SECONDS, subjects=ADDRESSES
    )
