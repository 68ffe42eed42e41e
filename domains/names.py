"""Validates customers' domain names and converts them to canonical form (lower case, A-labels)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import cache

import idna
from django.conf import settings
from publicsuffixlist import PublicSuffixList

from common.errors import FieldError, InvalidFields

CHALLENGE = "_shortener-challenge"
# The name of the challenge record must also fit into 253 characters.
MAX_LENGTH = 253 - len(f"{CHALLENGE}.")

OURS = "Must not be the address of this service."

# Special-use names (RFC 6761 and its successors): they have no hosts in DNS.
_SPECIAL = frozenset({"alt", "arpa", "invalid", "local", "localhost", "onion"})
# Browsers parse a name whose last label is such a number as an IPv4 address.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Name:
    """A canonical name in the two parts that its owner entered."""

    domain: str
    subdomain: str | None

    @property
    def host(self) -> str:
        return f"{self.subdomain}.{self.domain}" if self.subdomain else self.domain


def canonical_name(domain: str, subdomain: str | None) -> Name:
    """Return the canonical name. Raises InvalidFields with the errors of all fields."""
    errors: list[FieldError] = []
    name = Name(_checked_domain("domain", domain, errors), None)
    if subdomain:
        name = Name(name.domain, _canonical("subdomain", subdomain, errors))
    if not errors:
        errors += _check_host(name)
    if errors:
        raise InvalidFields(errors)
    return name


def registered_domain(host: str) -> str:
    """Return the registered domain of a name: ``example.co.uk`` for ``go.example.co.uk``."""
    return _public_suffixes().privatesuffix(host) or host


def is_apex(host: str) -> bool:
    """Whether a name is itself a registered domain, which cannot have a CNAME."""
    return registered_domain(host) == host


def _checked_domain(field: str, text: str, errors: list[FieldError]) -> str:
    if _is_address(text):
        errors.append(FieldError(field, "address", "Must be a name, not an IP address."))
        return ""
    name = _canonical(field, text, errors)
    if not name:
        return ""
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        errors.append(FieldError(field, "address", "Must be a name, not an IP address."))
    elif len(labels) == 1:
        errors.append(FieldError(field, "single_label", "Must be a complete name, such as example.com."))
    elif labels[-1] in _SPECIAL:
        errors.append(FieldError(field, "special_use", f"Names under .{labels[-1]} do not exist in DNS."))
    elif _public_suffixes().privatesuffix(name) is None:
        errors.append(FieldError(field, "public_suffix", "Must be a registered domain, not a public suffix."))
    return name


def _check_host(name: Name) -> list[FieldError]:
    if len(name.host) > MAX_LENGTH:
        return [FieldError("domain", "too_long", f"The whole name must not exceed {MAX_LENGTH} characters.")]
    if name.host in settings.BASE_HOSTS:
        return [FieldError("domain", "ours", OURS)]
    return []


def _canonical(field: str, text: str, errors: list[FieldError]) -> str:
    try:
        return idna.encode(text, uts46=True, std3_rules=True).decode().removesuffix(".")
    except UnicodeError:  # IDNAError is a subclass; lone surrogates raise UnicodeError itself
        errors.append(
            FieldError(field, "invalid", "Must be a host name, such as go.example.com, and nothing else.")
        )
        return ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()
