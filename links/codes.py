"""What a short code looks like, which words are none, and how new ones are drawn."""

import re
import string
from os import urandom

CODE_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase

_GENERATED_LENGTH = 7
_CODE = re.compile(r"[A-Za-z0-9]{3,50}")

# Bytes from the largest multiple of 62 on are thrown away: taken modulo 62 they would favour the first
# eight characters.
_ACCEPTED_BYTES = 256 - 256 % len(CODE_ALPHABET)
_REJECTED = bytes(range(_ACCEPTED_BYTES, 256))
_CHARACTER_OF_BYTE = bytes(ord(CODE_ALPHABET[byte % len(CODE_ALPHABET)]) for byte in range(256))

# The first path segments of the service, the names that browsers, crawlers and certificate authorities ask
# for unbidden, and the words with which a stranger's link would pass for the operator's. Some are too short
# to be codes: the routes are checked against the same list.
_RESERVED_WORDS = """
    about abuse account accounts admin ads android api app apple assets auth
    billing browserconfig
    contact cookies crossdomain css
    dashboard docs domains
    error
    favicon fonts
    health healthz help home humans
    images img index internal
    js
    legal livez login logout
    mail manifest media metrics
    null
    oauth openapi opensearch
    password preview privacy profile public
    qr
    ready readyz redoc register reset robots root
    schema security settings setup signin signout signup sitemap static stats status support swagger system
    terms
    undefined unsubscribe user users
    verify
    webhook webhooks webmail wellknown www
"""
RESERVED = frozenset(_RESERVED_WORDS.split())


def is_code(text: str) -> bool:
    return _CODE.fullmatch(text) is not None


def is_reserved(code: str) -> bool:
    """Whatever its case: codes are case-sensitive, but the eye and many a web server are not."""
    return code.lower() in RESERVED


def generate_code() -> str:
    """Seven characters from the operating system's CSPRNG, each of 62 equally likely: 41.7 bits."""
    code = ""
    while len(code) < _GENERATED_LENGTH or is_reserved(code):
        # Twice as many bytes as characters, so that a second draw is next to never needed.
        drawn = urandom(2 * _GENERATED_LENGTH).translate(_CHARACTER_OF_BYTE, _REJECTED)
        code = drawn[:_GENERATED_LENGTH].decode("ascii")
    return code
