"""Codes that no new link may have: routes of the service, and words that would mislead visitors."""

from __future__ import annotations

import re
from functools import cache

from django.conf import settings

# The first path segments of the service. Some are too short to be chosen as codes.
_ROUTES = "accounts admin api dashboard favicon healthz internal metrics qr readyz robots static"
# Files that browsers, crawlers and stores request by themselves, from every host. Requests for them do not count as
# guesses. Never add a name that an imported link may already have: it would stop redirecting.
_FILES = """
    .well-known ads.txt app-ads.txt browserconfig.xml crossdomain.xml favicon.ico humans.txt manifest.json robots.txt
    security.txt service-worker.js site.webmanifest sitemap.xml sw.js
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
