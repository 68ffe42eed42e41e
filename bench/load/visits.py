"""Visits, and the agents, referrers, languages and addresses of simulated visitors: files that `wrk.lua` reads."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address
from pathlib import Path

from testing.visitors.agents import agent

AGENTS, REFERRERS = 50, 40
ENGLISH = "en-GB,en;q=0.9,de;q=0.8"
LANGUAGES = (
    ENGLISH, "en-US,en;q=0.5", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "fr-FR,fr;q=0.8,en;q=0.5", "es-ES,es;q=0.9",
    "pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", "zh-CN,zh;q=0.9", "ja,en-US;q=0.9,en;q=0.8", "nl,en;q=0.9", "pl,en;q=0.5",
)  # fmt: skip


class Visits:
    """``visits`` are pairs of path and host. wrk combines them at random with user agents, referrers and ``languages``
    (values of Accept-Language), and with ``addresses``, if any, in X-Forwarded-For. ``by_rank``: the popularity of a
    visit is inversely proportional to its place (Zipf's law); otherwise all are equally popular.
    """

    def __init__(
        self,
        folder: Path,
        visits: Iterable[tuple[str, str]],
        *,
        languages: Iterable[str] = (ENGLISH,),
        addresses: Iterable[str] = (),
        by_rank: bool = False,
    ) -> None:
        folder.mkdir()
        self.folder = folder
        self.by_rank = by_rank
        for name, lines in (
            ("visits", (f"{path} {host}" for path, host in visits)),
            ("agents", (agent(number) for number in range(AGENTS))),
            ("referrers", (f"https://www.site{number}.example/page/{number}" for number in range(REFERRERS))),
            ("languages", languages),
            ("addresses", addresses),
        ):
            (folder / name).write_text("".join(f"{line}\n" for line in lines))


def address(number: int) -> str:
    """The IPv4 address with this number of 32 bits."""
    return str(IPv4Address(number))
