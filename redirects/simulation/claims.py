"""Whether a visit could claim one of a capped link's clicks. Claims none.

The owner learns only whether an address has used up its clicks, not how many it has used: visitors' addresses are not
in the reports.
"""

from __future__ import annotations

from typing import NamedTuple

from analytics.journal.capture import visitor_hashes
from analytics.visitors.visitor import Visitor
from links.destinations.lookup import Target
from links.selectors import claimed_clicks
from pages.refusals import Refusal
from redirects import refusals


class Claimed(NamedTuple):
    refusal: Refusal | None
    detail: str


def claim(target: Target, visitor: Visitor) -> Claimed:
    if not target.is_capped:
        return Claimed(None, "The link has no click limit, so the visit claims no click.")
    if visitor.kind != "click":
        return Claimed(None, "The visit claims no click, because it would not count as one.")
    total, share = target.max_clicks, target.max_clicks_per_visitor
    texts = [] if total is None else [f"the visit claims click {target.clicks + 1} of {total}"]
    if share is not None:
        used = claimed_clicks(target.link_id, visitor_hashes(visitor.address)) if visitor.address else 0
        if used >= share:
            detail = (
                f"The address {visitor.address} has used up its clicks. The limit is {share} per visitor."
            )
            return Claimed(refusals.VISITOR_LIMIT_REACHED, detail)
        whose = f"the address {visitor.address}" if visitor.address else "an unknown address"
        texts.append(f"{whose} has not used up its clicks, of which each visitor has {share}")
    return Claimed(None, _sentence("; ".join(texts)))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
