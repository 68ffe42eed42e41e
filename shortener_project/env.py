"""Settings from the environment: every reader says what is wrong in one line."""

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
_SOCKET = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::([0-9]{1,5}))?")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 2**31 - 1) -> int:
    given = text(name)
    if not given:
        return default
    if not given.isascii() or not given.isdigit() or not minimum <= int(given) <= maximum:
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {minimum} to {maximum}, not {given!r}."
        )
    return int(given)


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def origins(name: str) -> list[str]:
    """As browsers write them in an Origin header: lower case, and no port that goes without saying; or only ``*``."""
    found = words(name)
    if found == ["*"]:
        return found
    return [_origin(name, word) for word in found]


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
    given = text(name, choices[0])
    if given not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {given!r}.")
    return given


def networks(name: str, default: str = "") -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    found = []
    for word in words(name, default):
        try:
            found.append(ipaddress.ip_network(word, strict=False))
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must list networks such as 10.0.0.0/8, not {word!r}."
            ) from None
    return found


def addresses(name: str) -> list[str]:
    """IP addresses, each in its usual spelling."""
    try:
        return [str(ipaddress.ip_address(word)) for word in words(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must list IP addresses: {error}.") from None


def sockets(name: str, port: int) -> list[tuple[str, int]]:
    """IP addresses with a port each, or without one where it is the usual ``port``; IPv6 in brackets."""
    found = []
    for word in words(name):
        parts = _SOCKET.fullmatch(word)
        try:
            address = ipaddress.ip_address((parts[1] or parts[2]) if parts else "")
            given = int(parts[3] or port) if parts else 0
            if not 0 < given < 65536:
                raise ValueError
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must list addresses such as 192.0.2.1:53 or [2001:db8::1]:53, not {word!r}."
            ) from None
        found.append((str(address), given))
    return found


def monthly_address(name: str, default: str) -> str:
    """An http or https address in which {year} and {month} may stand."""
    given = text(name, default)
    try:
        address = urlsplit(given.format(year=2000, month=1))
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except (ValueError, TypeError, LookupError, AttributeError):
        usable = False
    if not usable:
        raise ImproperlyConfigured(
            f"{name} must look like https://example.com/{{year}}-{{month:02}}.mmdb.gz, not {given!r}."
        )
    return given


def secret_kept_at(path: Path) -> str:
    """A secret made once per installation and kept readable for its owner alone; safe against parallel starts."""
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
        raise ImproperlyConfigured(f"Cannot keep a secret at {path}: {error.strerror}.") from None
