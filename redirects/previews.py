"""These show a link without following it: the page of ``GET /{code}+``, and the card in messengers and networks.

The page shows where the link leads; both lanes send it. The card hides the destination.
"""

from __future__ import annotations

import json
from functools import lru_cache
from urllib.parse import urlsplit

import orjson
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import override

from analytics.visitors.useragent import is_crawler
from analytics.visitors.visitor import FOLLOWING, Visitor
from common.brand import brand_context
from common.http.browser_headers import protect_page
from links.destinations.lookup import Target
from pages.responses import page
from pages.style import content_security_policy, style

# Stand for the variables of the template, in the order in which it uses them. None of them occurs in its text.
_VARIABLES = {"host": "[host]", "destination": "[destination]", "path": "[path]"}


def preview_body(path: str, destination: str, *, in_json: bool, language: str) -> str:
    """Return the page or the JSON that names the destination.

    ``path``: of the link itself. ``destination``: in ASCII, as it is sent, so that a homograph host is recognisable.
    """
    if in_json:
        return json.dumps({"success": True, "destination": destination})
    pieces = _pieces(style(), *brand_context().values(), language)
    before, after_host, after_destination, after_path = pieces
    host = escape(urlsplit(destination).netloc)
    return f"{before}{host}{after_host}{escape(destination)}{after_destination}{escape(path)}{after_path}"


def preview_response(body: str, *, in_json: bool) -> HttpResponse:
    response = HttpResponse(body, content_type="application/json" if in_json else None)
    response["Cache-Control"] = "no-store"
    if in_json:
        response["X-Content-Type-Options"] = "nosniff"
    else:
        protect_page(response, content_security_policy())
    response["X-Robots-Tag"] = "noindex"
    return response


@lru_cache(maxsize=16)
def _pieces(page_style: str, brand_name: str, brand_logo: str, language: str) -> list[str]:
    """The text of the page around its variables. Rendering the template takes a hundred times as long."""
    brand = {"brand_name": brand_name, "brand_logo": brand_logo}
    context = {**_VARIABLES, **brand, "style": page_style, "language": language}
    with override(language):
        rest: str = render_to_string("redirects/preview.html", context)
    pieces = []
    for variable in _VARIABLES.values():
        piece, _, rest = rest.partition(variable)
        pieces.append(piece)
    return [*pieces, rest]


# Parts of user agents in lower case, from the documentation of the crawlers' operators. iMessage, Signal, LINE and
# Threads use the names of other networks' crawlers. In-app browsers have some of these parts, too, so the user agent
# must also be that of a crawler.
TOKENS = (
    "bluesky cardyb",
    "discordbot",
    "embedly",
    "facebookexternalhit",
    "facebot",
    "google-pagerenderer",
    "iframely",
    "kakaotalk-scrap",
    "linkedinbot",
    "mastodon/",
    "mattermost-bot",
    "meta-externalfetcher",
    "pinterest",
    "redditbot",
    "skypeuripreview",
    "slack-imgproxy",
    "slackbot",
    "snap url preview service",
    "snapchat",
    "synapse",
    "telegrambot",
    "tumblr",
    "twitterbot",
    "viber",
    "vkshare",
    "whatsapp",
    "yahoo link preview",
)


def shows_cards(user_agent: str) -> bool:
    """Return whether the agent is a crawler that shows a card for a link."""
    lowered = user_agent.lower()
    return any(token in lowered for token in TOKENS) and is_crawler(user_agent)


def shows_card(target: Target, visitor: Visitor) -> bool:
    """Whether the visitor gets the card instead of the redirect. A link with a password never shows one.

    A HEAD request of a crawler gets the headers of the card.
    """
    return (
        target.preview is not None
        and target.password is None
        and visitor.kind not in FOLLOWING
        and shows_cards(visitor.user_agent)
    )


def card_page(request: HttpRequest, target: Target, address: str) -> HttpResponse:
    """Return the page with the preview, which the link has. ``address``: the short URL."""
    card = orjson.loads(target.preview or "{}")
    context = {
        "address": address,
        "title": card.get("title") or "",
        "description": card.get("description") or "",
        "image": card.get("imageUrl") or "",
    }
    response = page(request, "redirects/card.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response
