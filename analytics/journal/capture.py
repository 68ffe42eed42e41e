"""Click recording, called by redirects: each request for a link is recorded before the response is sent."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from hashlib import blake2b

from django.conf import settings
from django.db import Error, connection

from accounts.rights import KEY_PREFIXES
from analytics.journal.drops import count_drop
from analytics.journal.pending import ADD_CLAIMED, ADD_CLAIMED_GROUP, add_pending, seal_record
from analytics.journal.records import (
    BRANCH_SHIFT,
    COUNTED,
    OPTED_OUT,
    SCANNED,
    UNKNOWN_CODE,
    Record,
    encode,
    subject_and_kind,
    with_flag,
)
from analytics.journal.writer import journal
from analytics.models import Kind
from analytics.visitors.visitor import FOLLOWING, Visitor
from common.host.metrics import count_click_to_database, count_database_error
from common.http.client_address import client_site
from common.repeated_lines import REPEATED
from common.secrets import derive_key
from links.availability import Closed
from links.clicks import claim_click, claim_clicks

KINDS = {
    "click": Kind.CLICK,
    "head": Kind.HEAD,
    "prefetch": Kind.PREFETCH,
    "crawler": Kind.CRAWLER,
    "ignored": Kind.IGNORED,
}

_VISITORS = "visitors-of-capped-links"

log = logging.getLogger(__name__)


def record_visit(visitor: Visitor, link_id: int, branch: int = 0) -> None:
    """Record a visitor who is about to be redirected. Never raises.

    ``branch``: the number of the branch that the visitor takes, 1 to 15; 0 for the link's own destination.
    """
    _record(visitor, link_id, KINDS[visitor.kind], flags=branch << BRANCH_SHIFT)


def record_refusal(visitor: Visitor, link_id: int, reason: str) -> None:
    """Record a refused request. Bots keep their own kind, so that refusals count people only. Never raises."""
    kind = Kind.REFUSED if visitor.kind in FOLLOWING else KINDS[visitor.kind]
    _record(visitor, link_id, kind, reason=reason)


def record_unknown_code(visitor: Visitor, domain_id: int | None, code: str) -> None:
    """``domain_id`` is None for the default domain. Never raises."""
    _record(visitor, domain_id or 0, UNKNOWN_CODE, reason="" if is_credential(code) else code)


def is_credential(code: str) -> bool:
    """Whether somebody has put an API key in place of a code. Nothing may store it."""
    return code.startswith(KEY_PREFIXES)


def record_claimed_click(
    visitor: Visitor, link_id: int, *, is_shared: bool, branch: int = 0
) -> Closed | None:
    """Claim one click of a capped link, if one is left, and record it in the same statement. Return why not, or None.

    ``is_shared``: the link limits the clicks per visitor. ``branch``: see `record_visit`. The record is stored in the
    database, which decides the claim: claim and record agree even if this process is killed. Raises database errors.
    """
    flags = COUNTED | branch << BRANCH_SHIFT
    content = seal_record(_payload(visitor, link_id, KINDS[visitor.kind], flags=flags))
    visitors = visitor_hashes(visitor.address) if is_shared else None
    return claim_click(link_id=link_id, record=ADD_CLAIMED, values={"record": content}, visitors=visitors)


def record_claimed_clicks(payloads: Sequence[bytes]) -> list[Closed | None]:
    """`record_claimed_click` for many visits, each by its encoded record, of links without a limit per visitor.

    Return for each why its click is not claimed, or None. Raises NotClaimed, or a database error if the outcome is
    unknown.
    """
    links = [subject_and_kind(payload)[0] for payload in payloads]
    sealed = [seal_record(with_flag(payload, COUNTED)) for payload in payloads]
    return claim_clicks(links, sealed, record=ADD_CLAIMED_GROUP)


def visitor_hashes(address: str) -> list[bytes]:
    """Hashes of the address under each secret key, the current one first. The database hashes them again by link."""
    site = client_site(address).encode()
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [blake2b(site, digest_size=32, key=derive_key(secret, _VISITORS)).digest() for secret in secrets]


def _record(visitor: Visitor, subject: int, kind: int, *, reason: str = "", flags: int = 0) -> None:
    payload = _payload(visitor, subject, kind, reason=reason, flags=flags)
    try:
        journal().append(payload)
        return
    except OSError as error:
        log.error(
            "Write to the click journal failed; storing the click in the database: %s", error, extra=REPEATED
        )
    try:
        add_pending(payload)
    except Error:
        # A statement without a response may have stored the click: it is lost at most.
        count_database_error("redirect")
        connection.close()
        count_drop()
    else:
        count_click_to_database()


def _payload(visitor: Visitor, subject: int, kind: int, *, reason: str = "", flags: int = 0) -> bytes:
    if visitor.opted_out:
        flags |= OPTED_OUT
    if visitor.scanned:
        flags |= SCANNED
    return encode(
        Record(
            time=time.time_ns() // 1000,
            subject=subject,
            kind=kind,
            flags=flags,
            address=visitor.address,
            reason=reason,
            user_agent=visitor.user_agent,
            referrer=visitor.referrer,
            language=visitor.language,
        )
    )
