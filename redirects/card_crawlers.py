"""The crawlers of messengers and social networks that show a card for a link. From their operators' documentation."""

from __future__ import annotations

from analytics.visitors.useragent import is_crawler

# Parts of user agents, in lower case. iMessage, Signal, LINE and Threads use the names of other networks' crawlers.
# In-app browsers have some of these parts, too, so the user agent must also be that of a crawler.
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
    """Whether the agent is such a crawler."""
    lowered = user_agent.lower()
    return any(token in lowered for token in TOKENS) and is_crawler(user_agent)
