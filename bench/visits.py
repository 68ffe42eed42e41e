"""What visitors ask for, and what they say of themselves: the files that `wrk.lua` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.agents import agent

AGENTS, REFERRERS = 50, 40


class Visits:
    """Where visitors go: (path, host) each, at random, from everywhere with everything."""

    def __init__(self, folder: Path, visits: Iterable[tuple[str, str]]) -> None:
        folder.mkdir()
        self.folder = folder
        for name, lines in (
            ("visits", (f"{path} {host}" for path, host in visits)),
            ("agents", (agent(number) for number in range(AGENTS))),
            ("referrers", (f"https://www.site{number}.example/page/{number}" for number in range(REFERRERS))),
        ):
            (folder / name).write_text("".join(f"{line}\n" for line in lines))
