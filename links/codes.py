"""The format of codes and short URLs, the generation of new codes, and the words that no new link may have.

The service creates codes of letters and digits. Clients may choose such codes, and with CUSTOM_CODE_PUNCTUATION also
some with `-` and `_`. Imported links keep the codes that other services gave them: these *inherited* codes may also
contain `-`, `.`, `_` and `~`, and have 1 to 255 characters. Redirects accept all of them.

Reserved are routes of the service, and words that would mislead visitors.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection
from functools import cache
from os import urandom

from django.conf import settings

from accounts.code_styles import DEFAULT_STYLE, CodeAlphabet, CodeStyle
from common.http.short_urls import short_url
from links.models import MAX_CODE, Link

CODE_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
INHERITED_RULE = f"Must be 1 to {MAX_CODE} letters (A-Z, a-z), digits and - . _ ~, but not . or .. alone."

# The unreserved characters of RFC 3986, section 2.3. Percent-encoding them does not change a URL, so a client or proxy
# that does so still requests the same code.
PATTERN = f"[A-Za-z0-9._~-]{{1,{MAX_CODE}}}"

_CODE = re.compile(r"[A-Za-z0-9]{3,50}")
# Punctuation at the start would read as an option, or as a bullet in a list.
_PUNCTUATED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,49}")
_INHERITED = re.compile(PATTERN)
# Clients remove these path segments before they send a request (RFC 3986, section 5.2.4).
_DOT_SEGMENTS = frozenset({".", ".."})

_LOOK_ALIKES = "0O1lI"


def _drawing(alphabet: str) -> tuple[bytes, bytes]:
    """Arguments of `bytes.translate` that turn random bytes into characters.

    Rejection sampling: bytes from the largest multiple of 62 on, taken modulo 62, would favour the first eight
    characters.
    """
    accepted = 256 - 256 % len(alphabet)
    return bytes(ord(alphabet[byte % len(alphabet)]) for byte in range(256)), bytes(range(accepted, 256))


_DRAWINGS = {
    CodeAlphabet.FULL.value: _drawing(CODE_ALPHABET),
    CodeAlphabet.READABLE.value: _drawing(CODE_ALPHABET.translate(str.maketrans("", "", _LOOK_ALIKES))),
}


def code_pattern() -> re.Pattern[str]:
    """Which codes a client may choose for a link."""
    return _PUNCTUATED if settings.CUSTOM_CODE_PUNCTUATION else _CODE


def code_rule() -> str:
    """The same for people."""
    if settings.CUSTOM_CODE_PUNCTUATION:
        return "Must be 3 to 50 letters (A-Z, a-z), digits, - and _, and begin with a letter or digit."
    return "Must be 3 to 50 letters and digits (A-Z, a-z, 0-9)."


def is_code(text: str) -> bool:
    """Whether a client may choose this code for a link."""
    return code_pattern().fullmatch(text) is not None


def is_inherited_code(text: str) -> bool:
    """Whether an imported link may keep this code. Every code that a client may choose is one, too."""
    return _INHERITED.fullmatch(text) is not None and text not in _DOT_SEGMENTS


def generate_code(
    chosen_codes: Collection[str | None] = (), style: CodeStyle = DEFAULT_STYLE, collisions: int = 0
) -> str:
    """Characters from the operating system's CSPRNG, equally likely. Seven of 62 are 41.7 bits.

    The code differs from the ones that the client chose for the same link. After every fifth of the ``collisions``
    with codes of others it is longer, so that a length whose codes are nearly used up delays nobody.
    """
    length, (characters, rejected) = style.length + collisions // 5, _DRAWINGS[style.alphabet]
    code = ""
    while len(code) < length or is_reserved(code) or code in chosen_codes:
        # With twice as many bytes as characters, a second draw is almost never necessary.
        code = urandom(2 * length).translate(characters, rejected)[:length].decode("ascii")
    return code


# The first path segments of the service. Some are too short to be chosen as codes.
_ROUTES = (
    "accounts admin api dashboard favicon healthz internal llms mcp metrics qr readyz reports robots static"
)
# Files that browsers, crawlers and stores request by themselves, from every host. Requests for them do not count as
# guesses. Never add a name that an imported link may already have: it would stop redirecting.
_FILES = """
    .well-known ads.txt app-ads.txt browserconfig.xml crossdomain.xml favicon.ico humans.txt llms.txt manifest.json
    robots.txt security.txt service-worker.js site.webmanifest sitemap.xml sw.js
"""
_ICON_SIZES = ("", *(f"-{size}x{size}" for size in (57, 60, 72, 76, 114, 120, 144, 152, 167, 180)))
_ICONS = {f"apple-touch-icon{size}{suffix}.png" for size in _ICON_SIZES for suffix in ("", "-precomposed")}
# Names that browsers, crawlers and certificate authorities request by themselves, and words that would make a
# stranger's link look like the operator's: common pages of a service, and typical requests of phishing pages.
_RESERVED_WORDS = """
    2fa
    about abuse accept access account activate activation adm administration administrator
    administrators ads alert alerts android antivirus app apple approve apps assets auth authenticate
    authentication authenticator authorization authorize
    balance bank banking bill billing billings bills blocked browserconfig
    cancel card certificate changepassword checkout claim confirm confirmation contact contactus cookie cookies
    copyright credential credentials creditcard crossdomain css customerservice
    deactivate debit deposit docs domain domains
    email emails error errors expired
    finance fonts forgot forgotpassword ftp
    health help helpdesk hidden home hostmaster humans
    images imap img impressum imprint index invoice invoices
    js
    kyc
    legal limited link links livez login logins logoff logon logout
    mail mailbox mailer mailerdaemon mails manifest me media mfa mx my myaccount
    noreply notice notification notifications null
    oauth oauth2 openapi opensearch otp owner
    passkey passkeys password passwordreset passwords passwort pay paying payment payments payout payouts
    paypal payroll phishing phone pop3 postmaster preview privacy profile profiles public
    ready receipt receipts recover recovery redoc refund refunds register registration reminder renew renewal
    reset resetpassword root
    safe safety sales schema secure security settings setup signin signoff signon signout signup sitemap
    sms smtp ssl sso staff statement stats status stop subscription subscriptions support suspended suspension
    swagger sysadmin system
    terms token tokens transfer
    unblock undefined unlock unsubscribe unsuspend update updates upgrade user username users
    validate validation verification verified verify verifyaccount verifyemail vpn
    wallet warning webhook webhooks webmail webmaster wellknown wire withdraw withdrawal www
"""
FILES = frozenset(_FILES.split()) | _ICONS
ROUTES = frozenset(_ROUTES.split()) | FILES
RESERVED = frozenset(_ROUTES.split()) | frozenset(_RESERVED_WORDS.split())

_WITHOUT_PUNCTUATION = str.maketrans("", "", "-._~")
_PAGE = re.compile(r"(.+)\.(?:aspx?|css|html?|ico|js|json|jsp|php|png|svg|txt|webmanifest|xml)")


def is_reserved(code: str) -> bool:
    """Whether no new link may have this code. Ignores case: codes are case-sensitive, but readers are not.

    An inherited code is also reserved if only punctuation or the extension of a page distinguishes it from a reserved
    word: `sign-in`, `login.php`. A link that had the code before its reservation keeps working.
    """
    word = code.lower()
    if word.isalnum():
        return _is_word(word)
    page = _PAGE.fullmatch(word)
    texts = (word, word if page is None else page[1])
    return word in FILES or any(_is_word(text) or _is_word(_stripped(text)) for text in texts)


def is_route(code: str) -> bool:
    """Whether the path belongs to the service, or to a file that no link may be. It is never looked up as a code."""
    return code.lower() in ROUTES


def _is_word(word: str) -> bool:
    return word in RESERVED or word in _with_stripped(settings.RESERVED_CODES)


@cache
def _with_stripped(words: frozenset[str]) -> frozenset[str]:
    """The operator's words, and what remains of them without punctuation."""
    return words | {stripped for word in words if (stripped := _stripped(word))}


def _stripped(text: str) -> str:
    return text.translate(_WITHOUT_PUNCTUATION)


# QR codes contain the short URL with this query.
SCAN_MARKER = "qr=1"


def short_url_of(link: Link) -> str:
    return short_url(None if link.domain is None else link.domain.host, link.custom_code or link.short_code)
