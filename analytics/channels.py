"""The channel of a click: how the visitor found the link, by the host of the referrer and whether a code was scanned.

This list is the only place that names sites. It applies to all clicks when a report is read, also to older ones.
"""

from __future__ import annotations

import re

from analytics.dimensions import DIRECT, UNKNOWN

QR, REFERRAL = "qr", "referral"
# The first one that has the host, or a host above it, decides. A star stands for a country's end: com, de, co.uk.
_HOSTS = {
    "email": """
        mail.google.com com.google.android.gm outlook.live.com outlook.office.com outlook.office365.com
        mail.yahoo.com mail.aol.com mail.proton.me mail.zoho.com mail.ru mail.yandex.* navigator.gmx.net
        navigator.web.de icloud.com fastmail.com mail.163.com mail.qq.com
    """,
    "ai": """
        chatgpt.com chat.openai.com perplexity.ai claude.ai gemini.google.com copilot.microsoft.com
        chat.deepseek.com chat.mistral.ai grok.com meta.ai poe.com you.com phind.com
    """,
    "search": """
        google.* com.google.android.googlequicksearchbox bing.com duckduckgo.com yahoo.* yandex.* ya.ru baidu.com
        ecosia.org startpage.com qwant.com search.brave.com kagi.com naver.com seznam.cz sogou.com so.com ask.com
        search.aol.com mojeek.com swisscows.com
    """,
    "social": """
        facebook.com fb.me messenger.com instagram.com threads.net threads.com whatsapp.com wa.me x.com twitter.com
        t.co linkedin.com lnkd.in com.linkedin.android reddit.com com.reddit.frontpage pinterest.* tiktok.com
        youtube.com youtu.be snapchat.com discord.com t.me telegram.org org.telegram.messenger bsky.app
        mastodon.social tumblr.com quora.com news.ycombinator.com vk.com ok.ru weibo.com xing.com twitch.tv
        slack.com line.me
    """,
}
CHANNELS = (DIRECT, *sorted(_HOSTS), REFERRAL, QR, UNKNOWN)


def _pattern(hosts: str) -> str:
    names = "|".join(
        re.escape(host).replace(r"\*", r"[a-z]{2,3}([.][a-z]{2})?").replace(r"\.", "[.]")
        for host in hosts.split()
    )
    return f"^(.+[.])?({names})$"


_PATTERNS = {name: re.compile(_pattern(hosts)) for name, hosts in _HOSTS.items()}


def channel_of(site: str) -> str:
    """The same as `channel_in_sql` of a host."""
    if site in (DIRECT, UNKNOWN):
        return site
    return next((name for name, pattern in _PATTERNS.items() if pattern.match(site)), REFERRAL)


def channel_in_sql(site: str) -> str:
    """SQL: the channel of a click with this host, as reports have it, if no code was scanned."""
    cases = " ".join(f"WHEN {site} ~ '{_pattern(hosts)}' THEN '{name}'" for name, hosts in _HOSTS.items())
    return f"CASE WHEN {site} IN ('{DIRECT}', '{UNKNOWN}') THEN {site} {cases} ELSE '{REFERRAL}' END"
