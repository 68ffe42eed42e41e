"""Which URLs a robots.txt allows, by RFC 9309: a pure function of its text, which may be hostile."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

_LINE_END = re.compile(r"\r\n|\r|\n")
_TOKEN = re.compile(r"\*|[A-Za-z_-]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
# Everything of ASCII: only the other characters are escaped.
_ASCII = "".join(map(chr, range(128)))


class _Rule(NamedTuple):
    is_allowed: bool
    pattern: str


def allows(robots: str, target: str, agent: str) -> bool:
    """Whether the program may call this path with its query. The longest rule that matches decides."""
    target = _normal(target)
    matching = [rule for rule in _rules(robots, agent) if _matches(rule.pattern, target)]
    # Of rules with the same length, the one that allows.
    longest = max(matching, key=lambda rule: (len(rule.pattern), rule.is_allowed), default=None)
    return longest is None or longest.is_allowed


def _rules(robots: str, agent: str) -> list[_Rule]:
    """Those of all groups that name the program, or if none does, of those for any program."""
    rules: dict[str, list[_Rule]] = {}
    named: set[str] = set()
    is_naming = False
    for line in _LINE_END.split(robots.removeprefix("\ufeff")):
        name, _, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "user-agent":
            if not is_naming:
                named = set()
            is_naming = True
            token = _TOKEN.match(value)
            if token and token[0].lower() in ("*", agent.lower()):
                named.add(token[0].lower())
                rules.setdefault(token[0].lower(), [])
        elif name in ("allow", "disallow"):
            is_naming = False
            # An empty one matches nothing.
            if value:
                for group in named:
                    rules[group].append(_Rule(name == "allow", _normal(value)))
    return rules.get(agent.lower(), rules.get("*", []))


def _matches(pattern: str, target: str) -> bool:
    """Without regular expressions, whose time a pattern with many stars could multiply."""
    start, *parts = pattern.removesuffix("$").split("*")
    if not target.startswith(start):
        return False
    place = len(start)
    end = parts.pop() if pattern.endswith("$") and parts else None
    for part in parts:
        found = target.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    if end is not None:
        return len(target) - len(end) >= place and target.endswith(end)
    return not pattern.endswith("$") or place == len(target)


def _normal(text: str) -> str:
    """The one spelling of paths with the same meaning."""
    return _ESCAPE.sub(_unescaped, quote(text, safe=_ASCII))


def _unescaped(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if _UNRESERVED.fullmatch(character) else escape[0].upper()
