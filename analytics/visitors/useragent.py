"""Parses a User-Agent header: form factor, browser, operating system, and whether a crawler sent it.

The header is untrusted input: it is cut to 512 characters, and matched only by a linear-time engine (ua-parser's, in
Rust) or by patterns without nested repetition. A server that forks its workers calls `build_rules` before, so that
they share the rules.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, cast

from crawleruseragents import CRAWLER_USER_AGENTS_DATA
from ua_parser import Domain, load_lazy_builtins
from ua_parser.lazy import UserAgentMatcher
from ua_parser.regex import Resolver

# Lower-case tokens of apps that open links in their own browser. These match first.
IN_APP_BROWSERS = (
    ("metaiab instagram", "Instagram"),
    ("metaiab threads", "Threads"),
    ("metaiab messenger", "Messenger"),
    ("metaiab", "Facebook"),
    ("micromessenger", "WeChat"),
    ("linkedinapp", "LinkedIn"),
    ("barcelona ", "Threads"),
    ("orca-android", "Messenger"),
    ("messengerforios", "Messenger"),
    ("messengerliteforios", "Messenger"),
    ("kakaotalk", "KakaoTalk"),
    ("naver(inapp", "Naver"),
    (" viber/", "Viber"),
    (" gsa/", "Google App"),
    ("alipayclient", "Alipay"),
    ("dingtalk", "DingTalk"),
    (" slack/", "Slack"),
    (" discord/", "Discord"),
    (" aweme_", "Douyin"),
    ("[reddit", "Reddit"),
    (" reddit/", "Reddit"),
)

BROWSERS = {
    "Aloha": "Aloha Browser",
    "Android": "Android Browser",
    "Baidu Explorer": "Baidu",
    "Baidu Browser": "Baidu",
    "BlackBerry WebKit": "BlackBerry",
    "Chrome Mobile": "Chrome",
    "Chrome Mobile WebView": "Android WebView",
    "Chrome Mobile iOS": "Chrome",
    "DuckDuckGo Mobile": "DuckDuckGo",
    "Ecosia Android": "Ecosia",
    "Ecosia iOS": "Ecosia",
    "Edge Mobile": "Edge",
    "Facebook Messenger": "Messenger",
    "Firefox Mobile": "Firefox",
    "Firefox iOS": "Firefox",
    "Google": "Google App",
    "IE": "Internet Explorer",
    "IE Large Screen": "Internet Explorer",
    "IE Mobile": "Internet Explorer",
    "MiuiBrowser": "Mi Browser",
    "Mobile Safari": "Safari",
    "Mobile Safari UI/WKWebView": "Safari (in-app)",
    "Opera Mobile": "Opera",
    "Opera Tablet": "Opera",
    "Opera Touch": "Opera",
    "Other": "unknown",
    "QQ Browser Mobile": "QQ Browser",
    "Seznam prohlížeč": "Seznam",
    "VivoBrowser": "Vivo Browser",
    "WeChat Browser": "WeChat",
    "YandexSearch": "Yandex Browser",
}

# Systems not listed here become "unknown": televisions, for example, report their manufacturer's name.
OPERATING_SYSTEMS = {
    "ATV OS X": "tvOS",
    "Android": "Android",
    "Arch Linux": "Linux",
    "Bada": "Bada",
    "BlackBerry OS": "BlackBerry OS",
    "BlackBerry Tablet OS": "BlackBerry OS",
    "CentOS": "Linux",
    "Chrome OS": "ChromeOS",
    "Chromecast": "Chromecast",
    "Chromecast Android": "Chromecast",
    "Chromecast Fuchsia": "Chromecast",
    "Chromecast Linux": "Chromecast",
    "Chromecast SmartSpeaker": "Chromecast",
    "Debian": "Linux",
    "Fedora": "Linux",
    "Firefox OS": "Firefox OS",
    "FreeBSD": "FreeBSD",
    "Gentoo": "Linux",
    "GoogleTV": "Android",
    "HarmonyOS": "HarmonyOS",
    "KaiOS": "KaiOS",
    "Kindle": "Linux",
    "Kubuntu": "Linux",
    "Linux": "Linux",
    "Linux Mint": "Linux",
    "Mac OS": "macOS",
    "Mac OS X": "macOS",
    "Mageia": "Linux",
    "Mandriva": "Linux",
    "NetBSD": "NetBSD",
    "OpenBSD": "OpenBSD",
    "Red Hat": "Linux",
    "Roku": "Roku",
    "SUSE": "Linux",
    "Slackware": "Linux",
    "Solaris": "Solaris",
    "Symbian OS": "Symbian",
    "Symbian^3": "Symbian",
    "Symbian^3 Anna": "Symbian",
    "Symbian^3 Belle": "Symbian",
    "Tizen": "Tizen",
    "Ubuntu": "Linux",
    "WatchOS": "watchOS",
    "Web0S": "webOS",
    "Windows": "Windows",
    "Windows CE": "Windows Phone",
    "Windows Mobile": "Windows Phone",
    "Windows Phone": "Windows Phone",
    "iOS": "iOS",
    "tvOS": "tvOS",
    "watchOS": "watchOS",
    "webOS": "webOS",
}

# Lower-case tokens for agents whose system ua-parser does not recognise.
OPERATING_SYSTEM_TOKENS = (
    ("openharmony", "HarmonyOS"),
    ("playstation", "PlayStation"),
    ("nintendo", "Nintendo"),
    ("linux", "Linux"),
)


FormFactor = Literal["desktop", "mobile", "tablet"]

AGENT_CHARACTERS = 512
BROWSER_CHARACTERS = 64
UNKNOWN = "unknown"

# HTTP libraries and command-line tools: a person may use them, so they do not make an agent a crawler.
TOOLS = (
    "AHC/", "Amazon CloudFront", "AnyEvent-HTTP/", "Apache-HttpClient/", "CustomAsyncHttpClient", "Dart/",
    "Go-http-client/", "Google-HTTP-Java-Client/", "GuzzleHttp/", "HTTPie/", "HttpUrlConnection",
    "Indy Library", "Java/", "Jetty/", "Mechanize/", "PHP-Curl-Class/", "Pcore-HTTP/", "PostmanRuntime/",
    "Python-urllib/", "Wget/", "aiohttp/", "axios/", "curl/", "http_get", "insomnia/", "libwww-perl/",
    "lwp-trivial/", "node-fetch/", "okhttp/", "python-httpx/", "python-requests/", "sindresorhus/got",
)  # fmt: skip
# False positives of the crawler list: two in-app browsers, a browser, a telephone.
_NOT_CRAWLERS = (" MetaIAB Facebook", " Viber/", "SogouMobileBrowser/", "TS1008/")
_CRAWLERS = (
    r"[a-z][Bb]ot\b|(?i:\b(?:spider|crawler))",
    r"(?i:link.?(?:preview|che?c?k)|url.?preview|health.?check|prerender|synthetic|scanner|validator|fetcher)",
    r"(?i:\bprobe|\buptime|\bmonitor(?:ing)?\b|\bresearch|\baudit)",
    r"Google-[A-Z][a-z]|-Google\b|GoogleProber|Cloudflare|^facebook(?:externalua|platform)|^meta-external",
    r"^Viber$|^Sogou |^008/|^Pinterest/0|^PocketImageCache|Bluesky Cardyb",
    # Office requests a link's headers itself before it opens the link in the browser.
    r"\bms-office\b|^Microsoft Office",
    # Typical of bots: only a name, or a contact address.
    r"compatible; [\w.-]+/[\d.]+\)",
)
_CONTACT = re.compile(r"\+(?:https?://|mailto:)")

_PLAIN_TEXT = re.compile(r"(?:[\w /@!:;,=-]|\\[/.()])*")

# The model of a telephone can be called anything: "HTC Butterfly", "ViewSonic", "CUBOT".
_ANDROID_MODEL = re.compile(r"(Android [^;()]*;(?: ?[a-z]{2}[-_][a-z]{2};)?)[^;()]*", re.IGNORECASE)

# The first match decides. Matched in lower case, because some proxies convert the whole header.
_FORM_FACTORS: tuple[tuple[FormFactor, str], ...] = (
    ("desktop", r"\btv\b|[a-z]-tv\b|smarttv|googletv|appletv|tvos|hbbtv|netcast|web0s|bravia|\bviera|vidaa"),
    ("desktop", r"roku|crkey|\baft[a-z]|xbox|playstation|nintendo|\bcros\b|chromebook|\bvr safari|tesla/"),
    # "Tablet PC" is a component of desktop Windows.
    ("tablet", r"ipad|dv\(ipd|tablet(?:[^ ]| [^p]|$)|playbook|touchpad|kindle|silk/|\bkf[a-z]{2,}|/apad"),
    ("tablet", r"nexus (?:7|9|10)\b|\b(?:sm-[tpx]|gt-p)\d|\btb-?[\dqx]|\byt3?-x?\d|-w[01]9\b"),
    ("tablet", r"android[^)]*(?:(?:tab|pad)\b|\btab[^l])"),
    # Browsers on an iPad claim to be a Mac, but keep their iOS names.
    ("tablet", r"macintosh.*(?:mobile/|crios|fxios|edgios)"),
    ("mobile", r"mobi|ip(?:hone|od)|phone|dv\(iph|fban/fb4a|lumia|zunewp|wpdesktop|watch(?:os|app|\d)"),
    ("mobile", r"j2me|midp|cldc|blackberry|bb10|opera mini|ucweb|kaios|symb(?:ian|os)|series ?[346]0|docomo"),
    ("mobile", r"\bbrew|webos/|\bpalm|up\.browser|\bup/|kddi|obigo|teleca|\bwap|netfront|jig browser"),
    # Only browsers follow the convention that tablets omit "Mobile"; other programs on Android always omit it.
    ("tablet", r"android.*(?:safari|gecko)/"),
    ("mobile", r"nokia"),
)


def _resolver(*matchers: UserAgentMatcher) -> Resolver:
    return Resolver((list(matchers), [], []))


def _matches(pattern: str, client: str) -> bool:
    """Search like re.search, but without compiling the patterns that are plain text: most of a thousand."""
    if _PLAIN_TEXT.fullmatch(pattern):
        return pattern.replace("\\", "") in client
    return re.search(pattern, client) is not None


@cache
def _rules() -> Resolver:
    return Resolver(load_lazy_builtins())


@cache
def _form_factor_rules() -> Resolver:
    return _resolver(*(UserAgentMatcher(pattern, name) for name, pattern in _FORM_FACTORS))


@cache
def _crawler_rules() -> Resolver:
    listed = (
        entry["pattern"]
        for entry in CRAWLER_USER_AGENTS_DATA
        if not any(_matches(entry["pattern"], client) for client in (*TOOLS, *_NOT_CRAWLERS))
    )
    return _resolver(*(UserAgentMatcher(pattern, "crawler") for pattern in (*_CRAWLERS, *listed)))


def build_rules() -> None:
    """Build all rules, which takes half a second. Otherwise, the first call that needs some of them does it."""
    for build in (_rules, _form_factor_rules, _crawler_rules):
        build()


@dataclass(frozen=True, slots=True)
class Agent:
    form_factor: FormFactor
    browser: str
    operating_system: str
    is_crawler: bool


def parse_agent(user_agent: str) -> Agent:
    return _parse(user_agent[:AGENT_CHARACTERS])


def is_crawler(user_agent: str) -> bool:
    """Whether no person reads the response: crawlers, link previews, monitors, and requests without an agent.

    Much cheaper than `parse_agent`, because it runs for every visitor.
    """
    return _is_crawler(user_agent[:AGENT_CHARACTERS])


@lru_cache(maxsize=8192)
def _parse(agent: str) -> Agent:
    lowered = agent.lower()
    result = _rules()(agent, Domain.USER_AGENT | Domain.OS)
    family = result.os.family if result.os else ""
    operating_system = OPERATING_SYSTEMS.get(family) or _first(OPERATING_SYSTEM_TOKENS, lowered) or UNKNOWN
    form_factor = _form_factor(lowered, operating_system)
    if form_factor == "tablet" and operating_system == "macOS":
        operating_system = "iOS"
    family = result.user_agent.family if result.user_agent else UNKNOWN
    # Some rules copy parts of the agent, so the name may be any text.
    browser = _first(IN_APP_BROWSERS, lowered) or BROWSERS.get(family, family[:BROWSER_CHARACTERS])
    return Agent(form_factor, browser, operating_system, _is_crawler(agent))


@lru_cache(maxsize=8192)
def _is_crawler(agent: str) -> bool:
    without_model = _ANDROID_MODEL.sub(r"\1", agent, count=1)
    if not agent or _crawler_rules()(without_model, Domain.USER_AGENT).user_agent:
        return True
    device = _rules()(without_model, Domain.DEVICE).device
    looks_automatic = _CONTACT.search(agent) or (device and device.family == "Spider")
    return bool(looks_automatic) and not any(tool in agent for tool in TOOLS)


def _form_factor(lowered: str, operating_system: str) -> FormFactor:
    if match := _form_factor_rules()(lowered, Domain.USER_AGENT).user_agent:
        return cast(FormFactor, match.family)
    return "mobile" if operating_system in {"Android", "iOS"} else "desktop"


def _first(names: tuple[tuple[str, str], ...], lowered: str) -> str | None:
    return next((name for token, name in names if token in lowered), None)
