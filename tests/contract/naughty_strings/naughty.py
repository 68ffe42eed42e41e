"""Strings that have broken programs before, each for a different reason."""

NUL_AND_HALF_PAIRS = [
    "\0", "a\0b", "\0" * 50, "a\ud800", "\udfffb", "\ud800\ud800", "\udc00\ud800", "\ud83d", "\ude00", "\ud83d\ud83d",
]  # fmt: skip
CONTROLS = [
    "\x01", "\x07\x08", "\t", "\n", "\r", "\r\n", "a\nb", "a\r\nX-Evil: evil", "\x0b\x0c", "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07", "\x1c\x1d\x1e\x1f", "\x7f", "\x80\x9f", "\x85", "\x9b31m", "a\x08b", "\x1a",
]  # fmt: skip
BLANKS = [
    "", " ", "  ", "\xa0", "\u1680", "\u180e", "\u2000\u2001\u2002", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
    " leading", "trailing ", "in  between", "\u3164", "\u115f\u1160", "\u2800",
]  # fmt: skip
INVISIBLE = [
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\ufeffbom", "a\u200bb", "\xad", "so\xadft", "\u034f", "\u061c",
    "\ufe0f", "\U000e0001\U000e0041", "\U000e0100", "\u206a\u206f", "\ufff9a\ufffab\ufffb", "\u180b", "\u17b4",
]  # fmt: skip
BIDI = [
    "\u202eevil\u202c", "\u202atext", "\u202btext\u202c", "\u202d123", "\u2066a\u2069", "\u2067b\u2069", "\u2068c",
    "\u200ertl\u200f", "abc \u0627\u0644\u0639\u0631\u0628\u064a\u0629 def", "\u05e9\u05dc\u05d5\u05dd 123",
    "\u202etxt.exe", "exe.\u202egpj",
]  # fmt: skip
SCRIPTS = [
    "\u0645\u0631\u062d\u0628\u0627", "\u4f60\u597d", "\u3053\u3093\u306b\u3061\u306f", "\uc548\ub155",
    "\u0e2a\u0e27\u0e31", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0bb5\u0ba3", "\u1798\u17b6\u1793",
    "\u10d2\u10d0", "\u0531\u0562", "\u13e3\u13b3\u13a9", "\u0f56\u0f7c\u0f51", "\u1200\u1208", "\u0420\u0443\u0441",
    "\u0395\u03bb", "\u07d2\u07de", "\U00010330\U00010331", "\U0001d4b3\U0001d4b4", "\U00020000\U0002a6d6",
    "\U0010ffff", "\uffff", "\ufdd0", "\ue000", "\u0130\u0131", "\xdf\u1e9e", "\u01c5", "\u03c3\u03c2\u03a3",
    "\ufb01\ufb03", "\uff21\uff22\uff11", "\u2460\u2167", "\u212b\xc5", "\u1e9b\u0323", "e\u0301", "\xe9", "\u0958",
    "\ufb2c", "\u1100\u1161\u11a8",
]  # fmt: skip
MARKS_AND_EMOJI = [
    "Z\u0351\u036b\u0343\u036a\u0302\u036b", "o" + "\u0301" * 40, "\u0e49" * 40, "\u0489" * 30, "\u20dd\u20e3",
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea", "\U0001f1e9",
    "\U0001f44d\U0001f3ff", "\u2764\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e007f",
    "\xaf\\_(\u30c4)_/\xaf", "(\u256f\xb0\u25a1\xb0)\u256f\ufe35 \u253b\u2501\u253b",
]  # fmt: skip
SQL = [
    "'", "''", '"', "`", "\\", "\\'", "';", "' OR '1'='1", "' OR 1=1--", "'; DROP TABLE links_link;--",
    "1;SELECT pg_sleep(9)", "' UNION SELECT NULL--", "%", "%%", "_", "%s", "%(id)s", "$1", "$$", "E'\\000'", "\\x00",
    "::text", "/*", "--", "links_link", "#inactive", "#1/2", "' & !'", "a:*", "{}", "{a,b}", '{"a":1}', "NULL", "\\N",
    "\\.",
]  # fmt: skip
MARKUP = [
    "<", ">", "&", "&lt;", "&#60;", "<b>", "</b>", "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>", "</textarea><svg/onload=alert(1)>", '"><img src=x onerror=alert(1)>',
    "'><img src=x onerror=alert(1)>", "\" autofocus onfocus=alert(1) x=\"", "' onclick='alert(1)", "<!--", "--><b>",
    "]]>", "<![CDATA[x]]>", "<?xml version='1.0'?>", "<!DOCTYPE x>", "<iframe src=//evil>",
    "<a href=javascript:alert(1)>x</a>", "<style>*{}</style>", "<base href=//evil>",
    "<meta http-equiv=refresh content=0>", "<plaintext>", "<noscript><p>", "<math><mi//xlink:href=x>",
    "\uff1cscript\uff1e", "<scr\0ipt>", "<svg><style><img src=x></style>", "javascript:alert(1)",
    "data:text/html,<b>", "vbscript:x", "&NewLine;", "&bogus;", "\u2028alert(1)", "</form><form action=//evil>",
]  # fmt: skip
TEMPLATES = [
    "{{7*7}}", "{% load x %}", "{{ request }}", "{{settings.SECRET_KEY}}", "{# #}", "${7*7}", "#{7*7}", "<%= 7*7 %>",
    "{0}", "{0.__class__}", "{x!r}", "%(x)s", "%n%n", "%x%x%x", "$(id)", "`id`", "; id", "| id", "&& id", "$HOME",
    "%PATH%", "!id", "${jndi:ldap://evil}", "=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "=cmd|'/C calc'!A0", "__proto__",
    "constructor",
]  # fmt: skip
PATHS = [
    ".", "..", "...", "/", "//", "\\", "../../etc/passwd", "..\\..\\windows", "%2e%2e%2f", "%252e", "%00",
    "%0d%0aX: y", "/etc/passwd", "C:\\", "\\\\evil\\share", "~", "~root", "file:///etc/passwd", "//evil", "/\\evil",
    "a/b", "a?b", "a#b", "a;b", "a:b", "a@b", ":@", "?", "#", "%", "%zz", "%u0041", "+", "index.html", "favicon.ico",
    ".git", "con", "nul", "*",
]  # fmt: skip
NUMBERS = [
    "0", "00", "-0", "1", "-1", "+1", "1.0", "1.", ".1", "1e3", "1E400", "0x1F", "0b1", "0o7", "1_000", "1,000",
    "1 000", "\u0661\u0662\u0663", "\uff11", "\xb2", "\xbd", "\u2155", "2147483647", "2147483648", "-2147483649",
    "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 400, "NaN", "nan",
    "Infinity", "-inf", "1/0", "true", "false", "True", "null", "None", "nil", "undefined", "[]", "[object Object]",
    "on", "yes",
]  # fmt: skip
DATES = [
    "2030-01-01", "2030-1-1", "2030-02-30", "2030-13-01", "2030-00-00", "0000-01-01", "0001-01-01", "9999-12-31",
    "10000-01-01", "-0001-01-01", "2030-01-01T24:00:00Z", "2030-01-01T25:00:00Z", "2030-06-30T23:59:60Z",
    "2030-01-01T00:00:00+14:00", "2030-01-01T00:00:00+99:99", "2030-01-01T00:00:00-00:00",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2030-01-01T00:00:00.1234567891Z",
    "2030-01-01t00:00:00z", "2030-W01-1", "2030-001", "20300101", "01/02/2030",
    "\u0662\u0660\u0663\u0660-\u0660\u0661-\u0660\u0661", "1893456000", "now", "today", "P1D", "12:00",
]  # fmt: skip
ADDRESSES = [
    "http://", "http:///", "http://a", "https://a@b", "https://a:b@c/", "http://[::1", "http://[::1]:99999/",
    "http://a:0", "http://\u2100.example", "http://a\\@b", "http:a", "//a", "http://0x7f.1/", "http://3232235777/",
    "http://xn--/", "http://.", "http://a..b", "http://-", "http://%00", "http://a/%", "http://ex\xadample.com",
    "http://\uff45xample.com", "http://a b", "a@b", "@", "a@", "@b", "a@b@c", '"a b"@c.example', "a@[127.0.0.1]",
    "xn--a", "xn--bcher-kva", "*.example.com", "_x.example", "a" * 64 + ".example", "localhost", "127.0.0.1", "::1",
    "co.uk", "example.com.", ".example.com", "Europe/../UTC", "UTC\0", "data:image/png;base64,",
    "data:image/png;base64,AAAA", "data:image/png;base64,====", "#000", "#GGGGGG", "#\uff10\uff10\uff10",
]  # fmt: skip
LONG = [
    "x" * 51, "x" * 201, "x" * 501, "\U0001f600" * 200, "\U0001f600" * 201, "e\u0301" * 200, "\ufdfa" * 300,
    "a," * 100, "," * 60,
]  # fmt: skip

_ALL = [
    *(*NUL_AND_HALF_PAIRS, *CONTROLS, *BLANKS, *INVISIBLE, *BIDI, *SCRIPTS, *MARKS_AND_EMOJI, *SQL, *MARKUP),
    *(*TEMPLATES, *PATHS, *NUMBERS, *DATES, *ADDRESSES, *LONG),
]
NAUGHTY = list(dict.fromkeys(_ALL))
