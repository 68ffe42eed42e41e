"""Parsers for environment variables. Each raises ImproperlyConfigured with a one-line message for an invalid value."""

from __future__ import annotations

import base64
import importlib.util
import ipaddress
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.colors import is_color
from common.http.urls import LOOPBACK_HOSTS, canonical_host
from common.secrets import derive_key
from qrcodes.design import MAX_BYTES, BadLogo, clean_logo

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
# The size of sun_path in sockaddr_un, without the final NUL.
_MAX_SOCKET_PATH = 107
_SOCKET = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::([0-9]{1,5}))?")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    value = text(name)
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {minimum} to {maximum}, not {value!r}."
        )
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """The items of a comma-separated list, trimmed, without empty items."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def origins(name: str) -> list[str]:
    """Origins in the form of an Origin header (lower case, without a default port), or ``["*"]``."""
    values = words(name)
    if values == ["*"]:
        return values
    return [_origin(name, word) for word in values]


def _origin(name: str, word: str) -> str:
    try:
        parts = urlsplit(word)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    scheme = parts.scheme
    if scheme not in _DEFAULT_PORTS or not _ORIGIN.fullmatch(word) or not host or port == 0:
        raise ImproperlyConfigured(f"{name} must list origins such as https://app.example.com, not {word!r}.")
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" if port in (None, _DEFAULT_PORTS[scheme]) else f"{scheme}://{host}:{port}"


def choice(name: str, choices: tuple[str, ...]) -> str:
    """One of ``choices``; the first is the default."""
    value = text(name, choices[0])
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def some_of(name: str, choices: tuple[str, ...]) -> frozenset[str]:
    """Any of ``choices``, in any case; none is the default."""
    chosen = frozenset(map(str.lower, words(name)))
    if unknown := sorted(chosen - set(choices)):
        raise ImproperlyConfigured(f"{name} must list some of {', '.join(choices)}, not {unknown[0]!r}.")
    return chosen


def networks(name: str, default: str = "") -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    parsed = []
    for word in words(name, default):
        try:
            parsed.append(ipaddress.ip_network(word, strict=False))
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must list networks such as 10.0.0.0/8, not {word!r}."
            ) from None
    return parsed


def addresses(name: str) -> list[str]:
    """Parse IP addresses and return them in canonical form."""
    try:
        return [str(ipaddress.ip_address(word)) for word in words(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must list IP addresses: {error}.") from None


def sockets(name: str, port: int) -> list[tuple[str, int]]:
    """IP addresses, IPv6 in brackets. ``port`` is the default port."""
    parsed = []
    for word in words(name):
        parts = _SOCKET.fullmatch(word)
        try:
            address = ipaddress.ip_address((parts[1] or parts[2]) if parts else "")
            number = int(parts[3] or port) if parts else 0
            if not 0 < number < 65536:
                raise ValueError
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must list addresses such as 192.0.2.1:53 or [2001:db8::1]:53, not {word!r}."
            ) from None
        parsed.append((str(address), number))
    return parsed


def host(name: str, default: str) -> str:
    """An IP address, a host name or the absolute path of a Unix socket."""
    value = text(name, default)
    if value.startswith("/"):
        _check_socket_path(name, value, "an IP address")
    return value


def listener(name: str, default: str, *, used_port: int, used_host: str) -> tuple[str, str, int]:
    """The value, and the address and port of ``127.0.0.1:8001`` or ``[::1]:8001``; "" and 0 for a Unix socket.

    ``used_port`` and ``used_host`` are those of another listener.
    """
    value = text(name, default)
    if value.startswith("/"):
        _check_socket_path(name, value, "an address such as 127.0.0.1:8001")
        if value == used_host:
            raise ImproperlyConfigured(f"{name} must have another path than the service itself ({value}).")
        return value, "", 0
    parts = _SOCKET.fullmatch(value)
    try:
        address = ipaddress.ip_address((parts[1] or parts[2]) if parts else "")
        port = int(parts[3] or 0) if parts else 0
        if not 0 < port < 65536:
            raise ValueError
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be an address with a port, such as 127.0.0.1:8001, or an absolute path, not {value!r}."
        ) from None
    if port == used_port:
        raise ImproperlyConfigured(f"{name} must have another port than the service itself ({used_port}).")
    return value, str(address), port


def _check_socket_path(name: str, path: str, alternative: str) -> None:
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH:
        raise ImproperlyConfigured(
            f"{name}: the path {path} exceeds {_MAX_SOCKET_PATH} bytes, the limit for a socket path. "
            f"Use a shorter path, or {alternative}."
        )


_CONTACT = re.compile(r"(https://|tel:)[!-~]+|(mailto:)?[\w.+-]+@[\w.-]+", re.ASCII)


def contact(name: str) -> str:
    """Return the URI, or ""."""
    address = text(name)
    if address and not _CONTACT.fullmatch(address):
        raise ImproperlyConfigured(
            f"{name} must be an e-mail address, or a https, mailto or tel URI, not {address!r}."
        )
    is_uri = address.startswith(("https:", "mailto:", "tel:"))
    return f"mailto:{address}" if address and not is_uri else address


def collector(name: str) -> str:
    """The address of a collector of spans; empty without one."""
    address = text(name)
    if not address:
        return ""
    if not address.startswith(("http://", "https://")):
        raise ImproperlyConfigured(f"{name} must be an http or https URL.")
    if not (importlib.util.find_spec("opentelemetry") and importlib.util.find_spec("opentelemetry.sdk")):
        raise ImproperlyConfigured(f"{name} needs the packages of requirements-tracing.txt.")
    return address


def monthly_address(name: str, default: str) -> str:
    """An http or https URL that may contain the placeholders {year} and {month}."""
    value = text(name, default)
    try:
        url = urlsplit(value.format(year=2000, month=1))
        is_valid = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except (ValueError, TypeError, LookupError, AttributeError):
        is_valid = False
    if not is_valid:
        raise ImproperlyConfigured(
            f"{name} must look like https://example.com/{{year}}-{{month:02}}.mmdb.gz, not {value!r}."
        )
    return value


def secret_kept_at(path: Path) -> str:
    """The secret stored in this file, which only its owner can read. Generates it once, even if processes race."""
    try:
        if path.exists():
            return path.read_text().strip()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48) + "\n")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"Cannot store a secret at {path}: {error.strerror}.") from None


@dataclass(frozen=True)
class BaseUrl:
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Return the form of an Origin header: lower case, without a default port."""
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def is_https(self) -> bool:
        return self.scheme == "https"

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts that the service accepts as its own. With a loopback host, all loopback names are equivalent."""
        return LOOPBACK_HOSTS if self.host in LOOPBACK_HOSTS else frozenset({self.host})


def parse_base_url(text: str) -> BaseUrl:
    """Raises ImproperlyConfigured for anything other than a scheme, a host and an optional port."""
    text = text.rstrip("/")
    try:
        parts = urlsplit(text)
        host = canonical_host(parts.netloc)
        if (
            parts.scheme not in _DEFAULT_PORTS
            or not host
            or parts.geturl() != f"{parts.scheme}://{parts.netloc}"
        ):
            raise ValueError
        return BaseUrl(parts.scheme, host, parts.port or _DEFAULT_PORTS[parts.scheme])
    except ValueError:
        raise ImproperlyConfigured(f"BASE_URL must look like https://go.example.com, not {text!r}.") from None


_SUBMISSION_PORT = 587
_MAIL_PORTS = {"smtp": _SUBMISSION_PORT, "smtps": 465}
_MAIL_SECONDS = 10


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
            "EMAIL_TIMEOUT": _MAIL_SECONDS,
        }


def parse_mail_url(text: str) -> MailServer:
    """``smtp://user:password@mail.example.com``, ``smtps://…``, ``console:`` or "". Raises ImproperlyConfigured."""
    if not text:
        return MailServer()
    if text in ("console:", "console://"):
        return MailServer("console")
    try:
        parts = urlsplit(text)
        default_port = _MAIL_PORTS[parts.scheme]
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


MAX_BRAND_NAME = 40
_PICTURES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg"}


def parse_brand_name(text: str) -> str:
    if len(text) > MAX_BRAND_NAME or not text.isprintable():
        raise ImproperlyConfigured(
            f"BRAND_NAME must have at most {MAX_BRAND_NAME} printable characters, not {text!r}."
        )
    return text


def parse_brand_color(text: str) -> str:
    """Return the colour in upper case, or ""."""
    if text and not is_color(text):
        raise ImproperlyConfigured(f"BRAND_COLOR must be a hex colour such as #1A2B3C, not {text!r}.")
    return text.upper()


def parse_brand_logo(path: str) -> bytes | None:
    """Read the file, and return the picture re-encoded as a PNG. It has to be valid as the logo of a QR code."""
    if not path:
        return None
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ImproperlyConfigured(f"BRAND_LOGO: cannot read {path}: {error.strerror}.") from None
    kind = next((name for start, name in _PICTURES.items() if content.startswith(start)), None)
    if kind is None:
        raise ImproperlyConfigured(f"BRAND_LOGO: {path} is neither a PNG nor a JPEG file.")
    try:
        return clean_logo(f"data:image/{kind};base64,{base64.b64encode(content).decode()}")
    except BadLogo as error:
        raise ImproperlyConfigured(f"BRAND_LOGO: {path} is not usable. {error.message}") from None


_MIN_SECRET_LENGTH = 32
_MIN_DIFFERENT_CHARACTERS = 8
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 # the folder's name is derived from the secret, so nobody can predict it


def installation_secret(configured: str, *, has_own_database: bool, var_dir: Path) -> str:
    """``configured``, or with the embedded database a secret stored under ``var_dir``. Raises ImproperlyConfigured."""
    if configured:
        # Anybody who has a token can try secrets without asking the service (RFC 8725, section 3.5).
        if len(configured) < _MIN_SECRET_LENGTH or len(set(configured)) < _MIN_DIFFERENT_CHARACTERS:
            raise ImproperlyConfigured(
                f"SECRET_KEY must have at least {_MIN_SECRET_LENGTH} characters, "
                f"{_MIN_DIFFERENT_CHARACTERS} of them different. This prints one: "
                "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
            )
        return configured
    if has_own_database:
        raise ImproperlyConfigured(
            "DATABASE_URL is set, so SECRET_KEY must be set too (50 random characters, the same on every host)."
        )
    return secret_kept_at(var_dir / "secret_key")


def metrics_folder(configured: str, *, secret: str, var_dir: Path) -> Path:
    """``configured``, or a folder in memory: a full or busy disk must not block the processes that count."""
    if configured:
        return Path(configured)
    if not os.access(_SHARED_MEMORY, os.W_OK):
        return var_dir / "metrics"
    name = derive_key(secret, f"metrics {os.geteuid()} {var_dir}").hex()[:20]
    return Path(_SHARED_MEMORY, f"shortener-{name}")
