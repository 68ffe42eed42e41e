"""User agents: of known programs, and of many browser versions by number."""

from __future__ import annotations

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
MOBILE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)
TABLET = (
    "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/16.6 Mobile/15E148 Safari/604.1"
)
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
TWITTERBOT = "Twitterbot/1.0"


def agent(number: int) -> str:
    version = 100 + number % 50
    system = (
        "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64",
        "Linux; Android 14; SM-S921B", "Linux; Android 15; Pixel 9",
    )[number % 5]  # fmt: skip
    mobile = " Mobile" if "Android" in system else ""
    match number % 4:
        case 0:
            return (
                f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_{number % 7} like Mac OS X) AppleWebKit/605.1.15 "
                f"(KHTML, like Gecko) Version/18.{number % 7} Mobile/15E{number} Safari/604.1"
            )
        case 1:
            return f"Mozilla/5.0 (X11; Linux x86_64; rv:{version}.{number}) Gecko/20100101 Firefox/{version}.{number}"
        case 2:
            extra = f" Edg/{version}.0.{number}.0"
        case _:
            extra = ""
    return (
        f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.{number}.0{mobile} Safari/537.36{extra}"
    )
