"""``/healthz`` in the event loop: the same response as from the Django view, however busy the threads are."""

from __future__ import annotations

from email.utils import formatdate

from django.conf import settings
from gunicorn import SERVER

from common.http.client_address import is_trusted
from common.http.hosts import is_address
from fastlane.fast.answers import Answer
from fastlane.fast.request_head import NotSimple, read_head

_BODY = b'{"status": "ok"}'
# Without `/healthz/`, which the view does not serve either.
_TARGETS = (b"GET /healthz ", b"GET /healthz?", b"HEAD /healthz ", b"HEAD /healthz?")
_FIELDS = "Content-Type: application/json\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"


class Health:
    def __init__(self) -> None:
        hsts = settings.SECURE_HSTS_SECONDS
        self._over_tls = f"Strict-Transport-Security: max-age={hsts}\r\n" if hsts else ""

    def answer(self, head: bytes, peer: str, now: float, closes: bool) -> Answer | None:
        """Return None for other requests and for requests that are not simple. ``now`` in seconds since 1970."""
        if not head.startswith(_TARGETS):
            return None
        try:
            method, _, _, fields = read_head(head)
        except NotSimple:
            return None
        if fields.host not in settings.BASE_HOSTS and not is_address(fields.host):
            return None
        closes = closes or fields.closes
        is_secure = fields.is_secure and is_trusted(peer, settings.TRUSTED_PROXIES)
        answer = (
            f"HTTP/1.1 200 OK\r\nServer: {SERVER}\r\nDate: {formatdate(int(now), usegmt=True)}\r\n"
            f"Connection: {'close' if closes else 'keep-alive'}\r\n{_FIELDS}"
            f"{self._over_tls if is_secure else ''}Content-Length: {len(_BODY)}\r\n\r\n"
        ).encode()
        return 200, answer + (_BODY if method == "GET" else b""), closes, b""
