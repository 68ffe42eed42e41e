"""Parsing of the service's public URL."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.http.hosts import LOOPBACK_HOSTS, canonical_host

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class BaseUrl:
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """In the form of an Origin header: lower case, without a default port."""
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
