"""Parsers for environment variables. Each raises ImproperlyConfigured with a one-line message for an invalid value."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

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
    """IP addresses in canonical form."""
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
