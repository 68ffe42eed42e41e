"""User-Agent headers of people, tools and bots, with the expected result of parsing."""

import crawleruseragents
import pytest

from analytics.visitors.useragent import TOOLS, Agent, is_crawler, parse_agent

ANDROID_APP = (
    "Mozilla/5.0 (Linux; Android 16; SM-S926B Build/BP2A.250605.031; wv) "
    "AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/148.0.7778.60 Mobile Safari/537.36"
)
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) "
MAC_SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
IPAD = "Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
ANDROID = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "

# fmt: off
PEOPLE = [
    (WINDOWS + "Chrome/148.0.0.0 Safari/537.36", "desktop", "Chrome", "Windows"),
    (MAC + "Chrome/148.0.0.0 Safari/537.36", "desktop", "Chrome", "macOS"),
    (LINUX + "Chrome/148.0.0.0 Safari/537.36", "desktop", "Chrome", "Linux"),
    ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36", "desktop", "Chrome", "ChromeOS"),
    (WINDOWS + "Chrome/148.0.0.0 Safari/537.36 Edg/148.0.0.0", "desktop", "Edge", "Windows"),
    (WINDOWS + "Chrome/148.0.0.0 Safari/537.36 OPR/132.0.0.0", "desktop", "Opera", "Windows"),
    (WINDOWS + "Chrome/148.0.0.0 Safari/537.36 Vivaldi/7.9", "desktop", "Vivaldi", "Windows"),
    (MAC + "Chrome/146.0.0.0 YaBrowser/26.4.0.0 Safari/537.36", "desktop", "Yandex Browser", "macOS"),
    (MAC_SAFARI + "Version/26.4 Safari/605.1.15", "desktop", "Safari", "macOS"),
    (MAC_SAFARI + "Version/26.4 Safari/605.1.15 Ddg/26.4", "desktop", "DuckDuckGo", "macOS"),
    ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0", "desktop", "Firefox", "Windows"),
    ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0", "desktop", "Firefox", "macOS"),
    ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0", "desktop", "Firefox", "Linux"),
    ("Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; Tablet PC 2.0; rv:11.0) like Gecko", "desktop", "Internet Explorer", "Windows"),
    (WINDOWS + "Slack/4.46.99 Chrome/142.0.7444.162 Electron/39.2.0 Safari/537.36", "desktop", "Slack", "Windows"),
    (IPHONE + "Version/26.4 Mobile/15E148 Safari/604.1", "mobile", "Safari", "iOS"),
    (IPHONE + "CriOS/148.0.7778.60 Mobile/15E148 Safari/604.1", "mobile", "Chrome", "iOS"),
    (IPHONE + "FxiOS/150.0 Mobile/15E148 Safari/605.1.15", "mobile", "Firefox", "iOS"),
    (IPHONE + "Version/18.0 EdgiOS/148.0.0.0 Mobile/15E148 Safari/605.1.15", "mobile", "Edge", "iOS"),
    (IPHONE + "Version/26.4 Mobile/15E148 Safari/604.1 OPT/6.6.0", "mobile", "Opera", "iOS"),
    (IPHONE + "GSA/420.0.900000000 Mobile/15E148 Safari/604.1", "mobile", "Google App", "iOS"),
    (IPHONE + "Version/26.4 Mobile/15E148 Safari/604.1 Ddg/26.4", "mobile", "DuckDuckGo", "iOS"),
    (IPHONE + "Version/26.4 YaBrowser/26.4.1.100.10 SA/3 Mobile/15E148 Safari/604.1", "mobile", "Yandex Browser", "iOS"),
    (IPHONE + "Version/18.7 Mobile/15E148 Safari/605.1.15 (Ecosia ios@11.4.0.2500)", "mobile", "Ecosia", "iOS"),
    (IPHONE + "Mobile/15E148", "mobile", "Safari (in-app)", "iOS"),
    ("Mozilla/5.0 (iPod touch; CPU iPhone OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1", "mobile", "Safari", "iOS"),
    (ANDROID + "Chrome/148.0.0.0 Mobile Safari/537.36", "mobile", "Chrome", "Android"),
    (ANDROID + "SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36", "mobile", "Samsung Internet", "Android"),
    (ANDROID + "Chrome/148.0.0.0 Mobile Safari/537.36 EdgA/148.0.0.0", "mobile", "Edge", "Android"),
    (ANDROID + "Chrome/146.0.0.0 Mobile Safari/537.36 OPR/97.0.0.0", "mobile", "Opera", "Android"),
    (ANDROID + "Version/4.0 Chrome/148.0.0.0 Mobile DuckDuckGo/5 Safari/537.36", "mobile", "DuckDuckGo", "Android"),
    ("Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "mobile", "Firefox", "Android"),
    ("Mozilla/5.0 (Linux; U; Android 15; en-us; 24117RN76G Build/AP3A.240905.015.A2) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/127.0.6533.103 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.33.0-gn", "mobile", "Mi Browser", "Android"),
    ("Mozilla/5.0 (Linux; Android 12; HarmonyOS; NOH-AN00; HMSCore 6.15.0.302) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.5735.196 HuaweiBrowser/16.0.4.300 Mobile Safari/537.36", "mobile", "Huawei Browser", "Android"),
    ("Mozilla/5.0 (Phone; OpenHarmony 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile HuaweiBrowser/5.1.5.310", "mobile", "Huawei Browser", "HarmonyOS"),
    ("Mozilla/5.0 (Linux; U; Android 13; en-US; CPH2387 Build/TP1A.220905.001) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/13.7.8.1318 Mobile Safari/537.36", "mobile", "UC Browser", "Android"),
    ("Mozilla/5.0 (Linux; U; Android 14; zh-cn; V2302A Build/UP1A.231005.007) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/109.0.5414.86 MQQBrowser/15.5 Mobile Safari/537.36", "mobile", "QQ Browser", "Android"),
    ("Mozilla/5.0 (Linux; Android 8.1.0; CUBOT_NOVA) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36", "mobile", "Chrome", "Android"),
    ("Mozilla/5.0 (Linux; Android 4.3; HTC_Butterfly Build/JSS15J) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/31.0.1650.59 Mobile Safari/537.36", "mobile", "Chrome", "Android"),
    ("Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.7778.60 Mobile Safari/537.36", "mobile", "Chrome", "Android"),
    ("Mozilla/5.0 (Linux; Android 12; SM-A528B Build/SP1A.210812.016; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/148.0.7778.60 Mobile Safari/537.36", "mobile", "Android WebView", "Android"),
    ("Dalvik/2.1.0 (Linux; U; Android 14; SM-S921U Build/UP1A.231005.007)", "mobile", "Android Browser", "Android"),
    ("mozilla/5.0 (linux; android 9; bq-5530l) applewebkit/537.36 (khtml, like gecko) chrome/74.0.3729.136 mobile safari/537.36", "mobile", "unknown", "Linux"),
    ("Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15254", "mobile", "Edge", "Windows Phone"),
    ("Mozilla/5.0 (compatible; MSIE 10.0; Windows Phone 8.0; Trident/6.0; IEMobile/10.0; ARM; Touch; NOKIA; Lumia 920)", "mobile", "Internet Explorer", "Windows Phone"),
    ("Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5.1", "mobile", "Firefox", "KaiOS"),
    ("Opera/9.80 (J2ME/MIDP; Opera Mini/9.80 (S60; SymbOS; Opera Mobi/23.348; U; en) Presto/2.5.25 Version/10.54", "mobile", "Opera Mini", "Symbian"),
    ("Opera/9.80 (Android; Opera Mini/72.0.2254/191.298; U; en) Presto/2.12.423 Version/12.16", "mobile", "Opera Mini", "Android"),
    ("UCWEB/2.0 (MIDP-2.0; U; Adr 9.0.0; en-US; Redmi_6A) U2/1.0.0 UCBrowser/10.7.9.856 U2/1.0.0 Mobile", "mobile", "UC Browser", "Android"),
    ("Mozilla/5.0 (BB10; Touch) AppleWebKit/537.10+ (KHTML, like Gecko) Version/10.3.3.3216 Mobile Safari/537.10+", "mobile", "BlackBerry", "BlackBerry OS"),
    ("Mozilla/5.0 (SymbianOS/9.4; Series60/5.0 Nokia5800d-1/60.0.003; Profile/MIDP-2.1 Configuration/CLDC-1.1 ) AppleWebKit/533.4 (KHTML, like Gecko) NokiaBrowser/7.3.1.33 Mobile Safari/533.4", "mobile", "Nokia Browser", "Symbian"),
    ("SAMSUNG-SGH-E250/1.0 Profile/MIDP-2.0 Configuration/CLDC-1.1 UP.Browser/6.2.3.3.c.1.101 (GUI) MMP/2.0", "mobile", "UP.Browser", "unknown"),
    (IPHONE + "Mobile/22H20 Instagram 419.0.0.27.74 (iPhone17,2; iOS 18_7; en_US; en; scale=3.00; 1320x2868; IABMV/1; 895010607) Safari/604.1", "mobile", "Instagram", "iOS"),
    (ANDROID_APP + " Instagram 419.0.0.44.74 Android (36/16; 450dpi; 1080x2340; samsung; SM-S926B; e2s; s5e9945; de_DE; 895010607; IABMV/1)", "mobile", "Instagram", "Android"),
    (IPHONE + "Mobile/22H20 [FBAN/FBIOS;FBAV/548.0.0.33.65;FBBV/888888888;FBDV/iPhone17,2;FBMD/iPhone;FBSN/iOS;FBSV/18.7;FBSS/3;FBID/phone;FBLC/en_US;FBOP/5]", "mobile", "Facebook", "iOS"),
    (IPHONE + "Mobile/22G100 Safari/604.1 MetaIAB Facebook", "mobile", "Facebook", "iOS"),
    (ANDROID_APP + " MetaIAB Facebook", "mobile", "Facebook", "Android"),
    (ANDROID_APP + " [FB_IAB/FB4A;FBAV/548.0.0.33.65;IABMV/1;]", "mobile", "Facebook", "Android"),
    (ANDROID_APP + " [FB_IAB/Orca-Android;FBAV/548.0.0.33.65;]", "mobile", "Messenger", "Android"),
    (IPHONE + "Mobile/22H20 Barcelona 419.0.0.27.74 (iPhone17,2; iOS 18_7; en_US; en; scale=3.00; 1320x2868; IABMV/1; 895010607)", "mobile", "Threads", "iOS"),
    (IPHONE + "Mobile/15E148 musical_ly_43.1.0 BytedanceWebview/d8a21c6", "mobile", "TikTok", "iOS"),
    (ANDROID_APP + " trill_2024301050 JsSdk/1.0 NetType/WIFI Channel/googleplay AppName/trill app_version/43.1.5 ByteLocale/en BytedanceWebview/d8a21c6", "mobile", "TikTok", "Android"),
    (IPHONE + "Mobile/15E148 Safari Line/15.21.0", "mobile", "LINE", "iOS"),
    (ANDROID_APP + " Line/15.21.0/IAB", "mobile", "LINE", "Android"),
    (IPHONE + "Mobile/15E148 MicroMessenger/8.0.66(0x18004235) NetType/WIFI Language/zh_CN", "mobile", "WeChat", "iOS"),
    (ANDROID_APP + " XWEB/1420193 MMWEBSDK/20250904 MicroMessenger/8.0.66.2980(0x28004234) WeChat/arm64 Weixin NetType/5G Language/zh_CN ABI/arm64", "mobile", "WeChat", "Android"),
    (IPHONE + "Mobile/15E148 Snapchat/13.70.0.41 (like Safari/8622.2.11, panda)", "mobile", "Snapchat", "iOS"),
    (IPHONE + "Mobile/15E148 [Pinterest/iOS]", "mobile", "Pinterest", "iOS"),
    (ANDROID_APP + " [Pinterest/Android]", "mobile", "Pinterest", "Android"),
    (IPHONE + "Mobile/22H20 Twitter for iPhone/11.50", "mobile", "Twitter", "iOS"),
    (ANDROID_APP + " TwitterAndroid", "mobile", "Twitter", "Android"),
    (IPHONE + "Mobile/15E148 [LinkedInApp]/9.31.7000", "mobile", "LinkedIn", "iOS"),
    (ANDROID_APP + " Telegram-Android/12.2.7 (Samsung SM-S926B; Android 16; SDK 36; HIGH)", "mobile", "Telegram", "Android"),
    (ANDROID_APP + " Viber/27.4.0.0", "mobile", "Viber", "Android"),
    (IPHONE + "Mobile/15E148 KAKAOTALK 25.9.1 (INAPP)", "mobile", "KakaoTalk", "iOS"),
    (IPHONE + "Mobile/15E148 NAVER(inapp; search; 2100; 12.15.7; 17PROMAX)", "mobile", "Naver", "iOS"),
    (IPAD + "Version/26.4 Mobile/15E148 Safari/604.1", "tablet", "Safari", "iOS"),
    (IPAD + "CriOS/148.0.7778.60 Mobile/15E148 Safari/604.1", "tablet", "Chrome", "iOS"),
    (IPAD + "Mobile/22H20 [FBAN/FBIOS;FBAV/548.0.0.33.65;FBBV/888888888;FBDV/iPad14,3;FBMD/iPad;FBSN/iPadOS;FBSV/18.7;FBSS/2;FBID/tablet;FBLC/en_US;FBOP/5]", "tablet", "Facebook", "iOS"),
    (MAC_SAFARI + "CriOS/148 Version/11.1.1 Safari/605.1.15", "tablet", "Chrome", "iOS"),
    (ANDROID + "Chrome/148.0.0.0 Safari/537.36", "tablet", "Chrome", "Android"),
    ("Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36", "tablet", "Chrome", "Android"),
    ("Mozilla/5.0 (Linux; Android 9; SM-T510 Build/PPR1.180610.011; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0.6099.144 Mobile Safari/537.36", "tablet", "Android WebView", "Android"),
    ("Mozilla/5.0 (Android 14; Tablet; rv:128.0) Gecko/128.0 Firefox/128.0", "tablet", "Firefox", "Android"),
    ("Mozilla/5.0 (Linux; Android 11; KFTRPWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/138.4.1 like Chrome/138.0.7204.244 Safari/537.36", "tablet", "Amazon Silk", "Android"),
    ("Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ (KHTML, like Gecko) Version/5.0 Safari/533.2+ Kindle/3.0+", "tablet", "Kindle", "Linux"),
    ("Mozilla/5.0 (Linux; Android 12; Nokia T20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36", "tablet", "Chrome", "Android"),
    ("Mozilla/5.0 (PlayBook; U; RIM Tablet OS 2.1.0; en-US) AppleWebKit/536.2+ (KHTML, like Gecko) Version/7.2.1.0 Safari/536.2+", "tablet", "BlackBerry", "BlackBerry OS"),
    ("Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/94.0.4606.31 TV Safari/537.36", "desktop", "Samsung Internet", "Tizen"),
    ("Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/108.0.5359.211 Safari/537.36 WebAppManager", "desktop", "Chrome", "webOS"),
    ("Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH22 Build/STT2.230203.001; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.107 Mobile Safari/537.36", "desktop", "Android WebView", "Android"),
    ("Mozilla/5.0 (Linux; Android 9; AFTSSS Build/PS7684; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/118.0.5993.155 Mobile Safari/537.36", "desktop", "Android WebView", "Android"),
    ("Mozilla/5.0 (X11; Linux aarch64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/104.0.5112.105 Safari/537.36 CrKey/1.56.500000", "desktop", "Chrome", "Chromecast"),
    ("Mozilla/5.0 (PlayStation; PlayStation 5/6.50) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15", "desktop", "Safari", "PlayStation"),
    ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edge/44.18363.8131", "desktop", "Edge", "Windows"),
    ("Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.21.3 NintendoBrowser/5.1.0.22474", "desktop", "unknown", "Nintendo"),
    ("Mozilla/5.0 (X11; Linux x86_64; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/40.1.0.2 Chrome/136.0.7103.177 VR Safari/537.36", "desktop", "Oculus Browser", "Android"),
    ("Mozilla/5.0 (X11; GNU/Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chromium/109.0.5414.119 Chrome/109.0.5414.119 Safari/537.36 Tesla/2024.26.8", "desktop", "Chromium", "Linux"),
]

TOOL_AGENTS = [
    ("curl/8.14.1", "desktop", "curl", "unknown"),
    ("Wget/1.25.0", "desktop", "Wget", "unknown"),
    ("python-requests/2.32.5", "desktop", "Python Requests", "unknown"),
    ("python-httpx/0.28.1", "desktop", "unknown", "unknown"),
    ("Python/3.12 aiohttp/3.13.2", "desktop", "Python aiohttp", "unknown"),
    ("Python-urllib/3.13", "desktop", "Python-urllib", "unknown"),
    ("Go-http-client/2.0", "desktop", "Go-http-client", "unknown"),
    ("okhttp/5.3.0", "desktop", "okhttp", "unknown"),
    ("axios/1.13.2", "desktop", "axios", "unknown"),
    ("node-fetch/1.0 (+https://github.com/bitinn/node-fetch)", "desktop", "unknown", "unknown"),
    ("node", "desktop", "unknown", "unknown"),
    ("Java/21.0.9", "desktop", "Java", "unknown"),
    ("Apache-HttpClient/5.5.1 (Java/21.0.9)", "desktop", "Apache-HttpClient", "unknown"),
    ("libwww-perl/6.81", "desktop", "libwww-perl", "unknown"),
    ("PostmanRuntime/7.49.1", "desktop", "PostmanRuntime", "unknown"),
    ("insomnia/12.0.0", "desktop", "insomnia", "unknown"),
    ("HTTPie/3.2.4", "desktop", "HTTPie", "unknown"),
    ("GuzzleHttp/7", "desktop", "unknown", "unknown"),
    ("Dart/3.10 (dart:io)", "desktop", "unknown", "unknown"),
    ("Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.26100.7019", "desktop", "WindowsPowerShell", "Windows"),
    ("Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.8.9", "desktop", "Lynx", "unknown"),
    ("ShoppingApp/4.1.0 (Android 15) okhttp/4.12.0", "mobile", "okhttp", "Android"),
    ("x", "desktop", "unknown", "unknown"),
]

CRAWLERS = [
    "",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.7778.60 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Googlebot-Image/1.0",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/136.0.0.0 Safari/537.36",
    "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)",
    "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
    "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
    "CCBot/2.0 (https://commoncrawl.org/faq/)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)",
    "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Slackbot 1.0 (+https://api.slack.com/robots)",
    "Slack-ImgProxy (+https://api.slack.com/robots)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)",
    "WhatsApp/2.23.20.0",
    "WhatsApp/2.2587.9 W",
    "TelegramBot (like TwitterBot)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "Twitterbot/1.0",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
    "Mastodon/4.5.0 (http.rb/5.3.1; +https://mastodon.social/) Bot",
    "http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.example/)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app) Chrome/100.0.4896.127 Safari/537.36",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
    "Mozilla/5.0 (compatible; Pinterestbot/1.0; +https://www.pinterest.com/bot.html)",
    "Viber",
    "Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)",
    "Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)",
    "Iframely/1.3.1 (+https://iframely.com/docs/about)",
    LINUX + "Chrome/41.0.2272.118 Safari/537.36 (compatible; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943)",
    WINDOWS + "Chrome/130.0.0.0 Safari/537.36 (compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview)",
    "Synapse (bot; +https://github.com/matrix-org/synapse)",
    "ZoomBot (Linkbot 1.0)",
    "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
    "Microsoft Office Existence Discovery",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
    "Uptime-Kuma/2.0.2",
    "ELB-HealthChecker/2.0",
    "Amazon-Route53-Health-Check-Service (ref 1; report http://amzn.to/1vsZADi)",
    "GoogleStackdriverMonitoring-UptimeChecks(https://cloud.google.com/monitoring)",
    "Datadog/Synthetics",
    "kube-probe/1.34",
    "Blackbox Exporter/0.27.0",
    LINUX + "HeadlessChrome/148.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11; moto g power (2022)) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/136.0.0.0 Mobile Safari/537.36 Chrome-Lighthouse",
    "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1",
    "Scrapy/2.13.3 (+https://scrapy.org)",
    "WGETbot/1.0 (+http://wget.alanreed.org)",
    "2Bone_LinkChkr/1.0 libwww-perl/6.03",
    "Mozilla/5.0 (compatible; Nmap Scripting Engine; https://nmap.org/book/nse.html)",
    "Mozilla/5.0 zgrab/0.x",
    "Mozilla/5.0 (compatible; Dataprovider.com)",
    "Mozilla/5.0 (compatible; ExampleThing/1.0)",
    "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)",
]
# fmt: on

LISTED_AS_CRAWLERS = [
    instance for entry in crawleruseragents.CRAWLER_USER_AGENTS_DATA for instance in entry["instances"]
]
# False positives of the crawler list: Facebook's in-app browser, and a model of OPPO telephones.
LISTED_BUT_PEOPLE = (" MetaIAB Facebook", "Build/AP3A.240617.008")


@pytest.mark.parametrize(("user_agent", "form_factor", "browser", "operating_system"), PEOPLE)
def test_browsers_of_people(user_agent: str, form_factor: str, browser: str, operating_system: str) -> None:
    assert parse_agent(user_agent) == Agent(form_factor, browser, operating_system, is_crawler=False)


@pytest.mark.parametrize(("user_agent", "form_factor", "browser", "operating_system"), TOOL_AGENTS)
def test_tools_are_not_crawlers(
    user_agent: str, form_factor: str, browser: str, operating_system: str
) -> None:
    assert parse_agent(user_agent) == Agent(form_factor, browser, operating_system, is_crawler=False)


@pytest.mark.parametrize("user_agent", CRAWLERS)
def test_crawlers_previews_and_monitors_are_crawlers(user_agent: str) -> None:
    assert is_crawler(user_agent) is True
    assert parse_agent(user_agent).is_crawler is True


def test_public_list_is_crawlers_except_tools_and_false_positives() -> None:
    missed = [agent for agent in LISTED_AS_CRAWLERS if not is_crawler(agent)]

    assert [
        agent
        for agent in missed
        if agent != "curl" and not any(token in agent for token in (*TOOLS, *LISTED_BUT_PEOPLE))
    ] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_is_a_crawler(tool: str) -> None:
    assert is_crawler(f"{tool}1.2.3") is False


@pytest.mark.parametrize("name", LISTED_BUT_PEOPLE)
def test_the_public_list_still_needs_its_exceptions(name: str) -> None:
    assert any(name in agent for agent in LISTED_AS_CRAWLERS)


def test_characters_beyond_512_are_ignored() -> None:
    assert parse_agent("x" * 512 + " Googlebot/2.1").is_crawler is False
    assert parse_agent("x" * 498 + " Googlebot/2.1").is_crawler is True


def test_long_browser_name_is_truncated() -> None:
    assert parse_agent("A" * 300 + "/1 CFNetwork/3826.400.120 Darwin/24.3.0").browser == "A" * 64


@pytest.mark.parametrize(
    "hostile",
    [
        "A" * 8192,
        "Chrome/" + "0" * 8000,
        "bot" * 3000,
        "Mozilla/5.0 (" * 700,
        "macintosh" * 1000,
        "Android ;" * 900,
        "compatible; " * 800,
        "(" * 8192,
        "a-tv" * 2000,
        "\x00" * 8192,
        " " * 8192,
        "€" * 8192,
        "${jndi:ldap://x}" * 500,
    ],
)
def test_hostile_agent_of_8_kb_is_parsed_like_its_first_512_characters(hostile: str) -> None:
    assert parse_agent(hostile) == parse_agent(hostile[:512])
