"""The card of a link in messengers and social networks: who gets it, and its page, which hides the destination."""

from __future__ import annotations

import orjson
from django.http import HttpRequest, HttpResponse

from analytics.visitors.useragent import is_crawler
from analytics.visitors.visitor import Visitor
from links.destinations.lookup import Target
from pages.responses import page

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
        and visitor.kind != "click"
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
