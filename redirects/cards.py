"""The page from which messengers and social networks make the card of a link. It does not contain the destination."""

from __future__ import annotations

import orjson
from django.http import HttpRequest, HttpResponse

from analytics.visitors.visitor import Visitor
from links.destinations.lookup import Target
from pages.responses import page
from redirects.card_crawlers import shows_cards
from redirects.outcomes import set_outcome


def shows_card(target: Target, visitor: Visitor) -> bool:
    """Whether the visitor gets the card instead of the redirect. A link with a password never shows one.

    A HEAD request of a crawler gets the headers of the card.
    """
    return (
        target.preview is not None
        and target.password is None
        and visitor.kind != "click"
        and shows_cards(visitor.user_agent)
    )


def card_page(request: HttpRequest, target: Target, address: str) -> HttpResponse:
    """``address``: the short URL. The link has a preview."""
    card = orjson.loads(target.preview or "{}")
    context = {
        "address": address,
        "title": card.get("title") or "",
        "description": card.get("description") or "",
        "image": card.get("imageUrl") or "",
    }
    response = page(request, "redirects/card.html", context)
    response["X-Robots-Tag"] = "noindex"
    return set_outcome(response, "card")
