"""The response to a visit that passed all checks."""

from __future__ import annotations

from typing import NamedTuple

from links.destinations.lookup import Target
from redirects.cards import shows_card
from redirects.routing.router import Route
from redirects.simulation.visits import DescribedVisit

_KINDS = {
    "click": "the visit counts as a click",
    "head": "a HEAD request does not count as a click",
    "prefetch": "a prefetch does not count as a click",
    "crawler": "a crawler does not count as a click",
}


class Answer(NamedTuple):
    """``is_card``: the response is the card of the link's preview, whatever its route."""

    status: int
    location: str | None
    detail: str
    is_card: bool = False


def answer_of(target: Target, described: DescribedVisit, route: Route) -> Answer:
    kind = described.visitor.kind
    if shows_card(target, described.visitor):
        detail = (
            "The response is a page with the link's preview, for the crawler of a messenger or social network"
        )
        return Answer(200, None, f"{detail}; {_KINDS[kind]}.", is_card=True)
    if target.is_capped and kind != "click":
        detail = "The response is a page without the destination, because the link has a click limit"
        return Answer(200, None, f"{detail}; {_KINDS[kind]}.")
    status = described.redirect_status(target.redirect_type)
    return Answer(
        status,
        route.location,
        f"The visitor is redirected to {route.location} with {status}; {_KINDS[kind]}.",
    )
