"""Which user agents get the card of a link: crawlers of messengers, but not their in-app browsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from redirects.previews import TOKENS
from testing.cases import for_each
from testing.visitors.agents import FIREFOX

pytestmark = pytest.mark.django_db

# A user agent that the operator or its users published, for each token.
CRAWLERS = {
    "bluesky cardyb": "Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)",
    "discordbot": "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "embedly": "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
    "facebookexternalhit": "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebot": "Facebot/1.0",
    "google-pagerenderer": (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/56.0.2924.87 Safari/537.36 "
        "Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)"
    ),
    "iframely": "Iframely/1.3.1 (+https://iframely.com/docs/about) Atlassian",
    "kakaotalk-scrap": "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984",
    "linkedinbot": "LinkedInBot/1.0 (compatible; Mozilla/5.0; Jakarta Commons-HttpClient/4.3 +http://www.linkedin.com)",
    "mastodon/": "http.rb/2.2.2 (Mastodon/1.5.1; +https://example-masto-instance.org/)",
    "mattermost-bot": "Mattermost-Bot/1.1",
    "meta-externalfetcher": (
        "meta-externalfetcher/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"
    ),
    "pinterest": "Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)",
    "redditbot": "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
    "skypeuripreview": "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
    "slack-imgproxy": "Slack-ImgProxy (+https://api.slack.com/robots)",
    "slackbot": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "snap url preview service": "Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots",
    "snapchat": "Mozilla/5.0 (compatible; SnapURLPreview/1.0; +https://www.snapchat.com)",
    "synapse": "Synapse (bot; +https://github.com/matrix-org/synapse)",
    "telegrambot": "TelegramBot (like TwitterBot)",
    "tumblr": "Tumblr/14.0.835.186",
    "twitterbot": "Twitterbot/1.0",
    "viber": "Viber",
    "vkshare": "Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)",
    "whatsapp": "WhatsApp/2.23.20.0",
    "yahoo link preview": (
        "Mozilla/5.0 (compatible; Yahoo Link Preview; https://help.yahoo.com/kb/mail/yahoo-link-preview-SLN23615.html)"
    ),
}
_IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Mobile/15E148"
)
_ANDROID = (
    "Mozilla/5.0 (Linux; Android 13; SM-A536E Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Version/4.0 Chrome/126.0.6478.71 Mobile Safari/537.36"
)
PEOPLE = {
    "Firefox": FIREFOX,
    "Pinterest, iOS": f"{_IPHONE} [Pinterest/iOS]",
    "Pinterest, Android": f"{_ANDROID} [Pinterest/Android]",
    "Snapchat": f"{_IPHONE} Snapchat/13.1.0.54 (like Safari/8618.2.12.10.9, panda)",
    "Zalo": f"{_ANDROID} Zalo android/12100706 ZaloTheme/light ZaloLanguage/vi",
    "Viber, iOS": f"{_IPHONE} Viber/22.7.0",
    "Viber, Android": f"{_ANDROID} Viber/22.7.1.0",
}


@pytest.fixture
def path(make_link: Callable[..., dict[str, Any]]) -> str:
    return f"/{make_link(preview={'title': 'Spring'})['shortCode']}"


def test_each_token_has_an_example() -> None:
    assert [*CRAWLERS] == [*TOKENS]
    assert [token for token, agent in CRAWLERS.items() if token not in agent.lower()] == []


@for_each("method", ["get", "head"])
@for_each("agent", CRAWLERS.values(), ids=CRAWLERS)
def test_crawlers_of_messengers_get_the_card(path: str, visitor: Client, agent: str, method: str) -> None:
    response = getattr(visitor, method)(path, headers={"user-agent": agent})

    assert response.status_code == 200
    assert (b"og:title" in response.content) == (method == "get")


@pytest.mark.parametrize("method", ["get", "head"])
@pytest.mark.parametrize("agent", PEOPLE.values(), ids=PEOPLE)
def test_in_app_browsers_get_the_redirect(path: str, visitor: Client, agent: str, method: str) -> None:
    assert getattr(visitor, method)(path, headers={"user-agent": agent}).status_code == 302
