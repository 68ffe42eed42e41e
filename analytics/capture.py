"""What redirects call: every request for a link is recorded before it is answered."""

from __future__ import annotations

import logging
import time

from django.db import Error, connection

from analytics.drops import count_drop
from analytics.journal import journal
from analytics.models import Kind
from analytics.pending import ADD_CLAIMED, add_pending, sealed
from analytics.records import COUNTED, OPTED_OUT, SCANNED, UNKNOWN_CODE, Record, encode
from analytics.visitor import Visitor
from common.metrics import count_database_error
from links.services import claim_click

KINDS = {"click": Kind.CLICK, "head": Kind.HEAD, "prefetch": Kind.PREFETCH, "crawler": Kind.CRAWLER}

log = logging.getLogger(__name__)


def record_visit(visitor: Visitor, link_id: int) -> None:
    """Of a visitor who is about to be redirected. Never raises."""
    _record(visitor, link_id, KINDS[visitor.kind])


def record_refusal(visitor: Visitor, link_id: int, reason: str) -> None:
    """A machine's visit stays a machine's: refusals are what a rule has cost in people. Never raises."""
    kind = Kind.REFUSED if visitor.kind == "click" else KINDS[visitor.kind]
    _record(visitor, link_id, kind, reason=reason)


def record_unknown_code(visitor: Visitor, domain_id: int | None) -> None:
    """``domain_id`` is None for the default domain. Never raises."""
    _record(visitor, domain_id or 0, UNKNOWN_CODE)


def record_claimed_click(visitor: Visitor, link_id: int) -> bool:
    """Takes one of a capped link's clicks, if there is one left, and records it, both or neither.

    Through the database, which decides the claim anyway: whatever is killed now, the two agree. Raises what the
    database raises.
    """
    content = sealed(_payload(visitor, link_id, Kind.CLICK, flags=COUNTED))
    return claim_click(link_id=link_id, record=ADD_CLAIMED, values={"record": content})


def _record(visitor: Visitor, subject: int, kind: int, *, reason: str = "") -> None:
    payload = _payload(visitor, subject, kind, reason=reason)
    try:
        journal().append(payload)
        return
    except OSError as error:
        log.error("The journal cannot be written, clicks go to the database: %s", error)
    try:
        add_pending(payload)
    except Error:
        count_database_error("redirect")
        connection.close()
        count_drop()


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
        )
    )
