"""Which names can be a customer's domain, and the one spelling (lower case, A-labels) of each."""

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
# The name of the challenge is one, too.
MAX_LENGTH = 253 - len(f"{CHALLENGE}.")

OURS = "Is the address of this service itself."

# Their meaning is fixed by RFC 6761 and its successors: none of them is looked up in DNS, or names a host there.
_SPECIAL = frozenset({"alt", "arpa", "invalid", "local", "localhost", "onion"})
# What browsers take for the end of an IPv4 address, in each of its notations.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Name:
    """A canonical name, in the two parts that its owner gave."""

    domain: str
    subdomain: str | None

    @property
    def host(self) -> str:
        return f"{self.subdomain}.{self.domain}" if self.subdomain else self.domain


def canonical_name(domain: str, subdomain: str | None) -> Name:
    """The name that is meant. Raises InvalidFields, with every field that cannot be."""
    errors: list[FieldError] = []
    name = Name(_judged("domain", domain, errors), None)
    if subdomain:
        name = Name(name.domain, _canonical("subdomain", subdomain, errors))
    if not errors:
        errors += _judged_whole(name)
    if errors:
        raise InvalidFields(errors)
    return name


def registered_domain(host: str) -> str:
    """The part of a name that somebody registered: ``example.co.uk`` of ``go.example.co.uk``."""
    return _public_suffixes().privatesuffix(host) or host


def is_apex(host: str) -> bool:
    """Whether a name is a registered domain itself, where no CNAME can be."""
    return registered_domain(host) == host


def _judged(field: str, text: str, errors: list[FieldError]) -> str:
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
        errors.append(
            FieldError(
                field, "public_suffix", "Must be a domain of yours, not one under which others register."
            )
        )
    return name


def _judged_whole(name: Name) -> list[FieldError]:
    if len(name.host) > MAX_LENGTH:
        return [FieldError("domain", "too_long", f"The whole name must not exceed {MAX_LENGTH} characters.")]
    if name.host in settings.BASE_HOSTS:
        return [FieldError("domain", "ours", OURS)]
    return []


def _canonical(field: str, text: str, errors: list[FieldError]) -> str:
    try:
        return idna.encode(text, uts46=True, std3_rules=True).decode().removesuffix(".")
    except UnicodeError:  # IDNAError is one, and so is what lone surrogates raise
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
