"""The format of codes, and the generation of new ones.

The service creates codes of letters and digits. Imported links keep the codes that other services gave them: these
*inherited* codes may also contain `-`, `.`, `_` and `~`, and have 1 to 255 characters.
"""

import re
import string
from collections.abc import Collection
from os import urandom

from links.codes.reserved import is_reserved
from links.models import MAX_CODE

CODE_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
CODE_RULE = "Must be 3 to 50 letters and digits (A-Z, a-z, 0-9)."
INHERITED_RULE = f"Must be 1 to {MAX_CODE} letters (A-Z, a-z), digits and - . _ ~, but not . or .. alone."

# The unreserved characters of RFC 3986, section 2.3. Percent-encoding them does not change a URL, so a client or proxy
# that does so still requests the same code.
PATTERN = f"[A-Za-z0-9._~-]{{1,{MAX_CODE}}}"

_GENERATED_LENGTH = 7
_CODE = re.compile(r"[A-Za-z0-9]{3,50}")
_INHERITED = re.compile(PATTERN)
# Clients remove these path segments before they send a request (RFC 3986, section 5.2.4).
_DOT_SEGMENTS = frozenset({".", ".."})

# Rejection sampling: bytes from the largest multiple of 62 on, taken modulo 62, would favour the first eight
# characters.
_ACCEPTED_BYTES = 256 - 256 % len(CODE_ALPHABET)
_REJECTED = bytes(range(_ACCEPTED_BYTES, 256))
_CHARACTER_OF_BYTE = bytes(ord(CODE_ALPHABET[byte % len(CODE_ALPHABET)]) for byte in range(256))


def is_code(text: str) -> bool:
    """Whether a client may choose this code for a link."""
    return _CODE.fullmatch(text) is not None


def is_inherited_code(text: str) -> bool:
    """Whether an imported link may keep this code. Every code that a client may choose is one, too."""
    return _INHERITED.fullmatch(text) is not None and text not in _DOT_SEGMENTS


def generate_code(chosen_codes: Collection[str | None] = ()) -> str:
    """Seven characters from the operating system's CSPRNG, each of 62 equally likely: 41.7 bits.

    The code differs from the ones that the client chose for the same link.
    """
    code = ""
    while len(code) < _GENERATED_LENGTH or is_reserved(code) or code in chosen_codes:
        # With twice as many bytes as characters, a second draw is almost never necessary.
        drawn = urandom(2 * _GENERATED_LENGTH).translate(_CHARACTER_OF_BYTE, _REJECTED)
        code = drawn[:_GENERATED_LENGTH].decode("ascii")
    return code
