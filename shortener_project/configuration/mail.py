"""Parsing of EMAIL_URL."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_SUBMISSION_PORT = 587
_DEFAULT_PORTS = {"smtp": _SUBMISSION_PORT, "smtps": 465}
_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class MailServer:
    """``scheme`` is "" if the service sends no mail, ``console``, ``smtp`` or ``smtps``."""

    scheme: str = ""
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """Django's settings. Port 587 requires STARTTLS (RFC 6409), and ``smtps`` is TLS from the start."""
        if self.scheme in ("", "console"):
            kind = "console" if self.scheme else "dummy"
            return {"EMAIL_BACKEND": f"django.core.mail.backends.{kind}.EmailBackend"}
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "EMAIL_HOST": self.host,
            "EMAIL_PORT": self.port,
            "EMAIL_HOST_USER": self.user,
            "EMAIL_HOST_PASSWORD": self.password,
            "EMAIL_USE_SSL": self.scheme == "smtps",
            "EMAIL_USE_TLS": self.scheme == "smtp" and self.port == _SUBMISSION_PORT,
            "EMAIL_TIMEOUT": _TIMEOUT_SECONDS,
        }


def parse_mail_url(text: str) -> MailServer:
    """``smtp://user:password@mail.example.com``, ``smtps://…``, ``console:`` or "". Raises ImproperlyConfigured."""
    if not text:
        return MailServer()
    if text in ("console:", "console://"):
        return MailServer("console")
    try:
        parts = urlsplit(text)
        default_port = _DEFAULT_PORTS[parts.scheme]
        server = MailServer(
            parts.scheme,
            parts.hostname or "",
            parts.port or default_port,
            unquote(parts.username or ""),
            unquote(parts.password or ""),
        )
        if not server.host or parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError
    except (KeyError, ValueError):
        # The message omits the value, which may contain a password.
        raise ImproperlyConfigured(
            "EMAIL_URL must look like smtp://user:password@mail.example.com:587, smtps://mail.example.com or console:."
        ) from None
    if server.password and not server.settings["EMAIL_USE_SSL"] and not server.settings["EMAIL_USE_TLS"]:
        raise ImproperlyConfigured(
            "EMAIL_URL has a password, which would be sent without TLS. Use smtps://, or port 587 for STARTTLS."
        )
    return server
